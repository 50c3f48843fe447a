// An NVML for tests: two GPUs that answer like an idle H200, unless the environment says otherwise.
//
// FAKE_NVML_<answer>=<value>        a value; "a,b,c": one after the other, the last for ever
// FAKE_NVML_<answer>=error:<code>   the function refuses with this nvmlReturn_t
// FAKE_NVML_ALL=error:<code>        every number of a GPU is refused, but not its handle
// FAKE_NVML_DELAY_MS=<n>            each number of a GPU takes that long
//
// The names of the answers are the first arguments below. Structures are declared here again, from
// NVML's reference, so that a wrong layout in the code under test does not cancel out.

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int ok = 0, invalid_argument = 2, not_found = 6, insufficient_size = 7;

std::optional<std::string> setting(const std::string& name) {
  const char* text = std::getenv(("FAKE_NVML_" + name).c_str());
  if (!text) return std::nullopt;
  return text;
}

std::optional<int> refusal(const std::string& text) {
  if (text.rfind("error:", 0) != 0) return std::nullopt;
  return std::atoi(text.c_str() + 6);
}

/// The next of the values in a list; the last one stays.
std::string next_of(const std::string& name, const std::string& list) {
  static std::mutex mutex;
  static std::map<std::string, std::size_t> position;
  std::vector<std::string> values;
  std::stringstream stream(list);
  for (std::string value; std::getline(stream, value, ',');) values.push_back(value);
  if (values.size() < 2) return list;
  const std::lock_guard guard(mutex);
  std::size_t& at = position[name + "=" + list];  // another list starts anew
  const std::string value = values[at];
  if (at + 1 < values.size()) ++at;
  return value;
}

int text_answer(const char* name, const char* standard, char* out, unsigned size) {
  const std::string text = setting(name).value_or(standard);
  if (const auto code = refusal(text)) return *code;
  if (text.size() + 1 > size) return insufficient_size;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return ok;
}

template <class T>
int answer(const char* name, unsigned long long standard, T* out) {
  if (!out) return invalid_argument;
  const auto text = setting(name);
  if (!text) {
    *out = static_cast<T>(standard);
    return ok;
  }
  const std::string value = next_of(name, *text);
  if (const auto code = refusal(value)) return *code;
  *out = static_cast<T>(std::strtoull(value.c_str(), nullptr, 0));
  return ok;
}

/// As `answer`, for a function that takes a GPU.
template <class T>
int gpu_answer(const char* name, unsigned long long standard, T* out) {
  if (const auto all = setting("ALL"))
    if (const auto code = refusal(*all)) return *code;
  if (const auto delay = setting("DELAY_MS"))
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(delay->c_str())));
  return answer(name, standard, out);
}

constexpr const char* bus_ids[] = {"0000:0A:00.0", "0000:0B:00.0"};
int gpus[2];

}  // namespace

extern "C" {

int nvmlInit_v2() {
  int unused = 0;
  return answer("init", 0, &unused);
}
int nvmlShutdown() { return ok; }
int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  return text_answer("driver", "580.95.05", out, size);
}
int nvmlSystemGetConfComputeState(void* out) {
  struct State {
    unsigned environment, feature, developer_tools;
  }* state = static_cast<State*>(out);
  state->environment = state->developer_tools = 0;
  return answer("confidential_computing", 0, &state->feature);
}
int nvmlDeviceGetCount_v2(unsigned* count) { return answer("count", 2, count); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index > 1) return not_found;
  int unused = 0;
  *device = &gpus[index];
  return answer("handle", 0, &unused);
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  for (unsigned index = 0; index < 2; ++index)
    if (std::strcmp(bus_id, bus_ids[index]) == 0)
      return nvmlDeviceGetHandleByIndex_v2(index, device);
  return not_found;
}

int nvmlDeviceGetVbiosVersion(void* device, char* out, unsigned size) {
  return text_answer("vbios", device == &gpus[0] ? "96.00.BC.00.01" : "96.00.BC.00.02", out, size);
}

// Functions that answer one number of a GPU, in NVML's unit.
#define NUMBER(function, name, standard, ...) \
  int function(void*, __VA_ARGS__ out) { return gpu_answer(name, standard, out); }
NUMBER(nvmlDeviceGetPowerUsage, "power_average", 74000, unsigned*)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, "power_limit", 700000, unsigned*)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, "default_power_limit", 700000, unsigned*)
NUMBER(nvmlDeviceGetPersistenceMode, "persistence", 1, unsigned*)
NUMBER(nvmlDeviceGetComputeMode, "compute_mode", 0, unsigned*)
NUMBER(nvmlDeviceGetVirtualizationMode, "virtualization", 0, unsigned*)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_gen", 1, unsigned*)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width", 16, unsigned*)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_gen_max", 5, unsigned*)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max", 16, unsigned*)
NUMBER(nvmlDeviceGetCurrentClocksEventReasons, "reasons", 1, unsigned long long*)
NUMBER(nvmlDeviceGetTotalEnergyConsumption, "energy", 123456789, unsigned long long*)
NUMBER(nvmlDeviceGetApplicationsClock, "application_clock", 1980, unsigned, unsigned*)
NUMBER(nvmlDeviceGetDefaultApplicationsClock, "default_application_clock", 1980, unsigned,
       unsigned*)
#undef NUMBER
int nvmlDeviceGetClockInfo(void*, unsigned which, unsigned* mhz) {
  return which == 2 ? gpu_answer("memory_clock", 3201, mhz) : gpu_answer("sm_clock", 345, mhz);
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned which, unsigned* mhz) {
  return which == 2 ? gpu_answer("memory_clock_max", 3201, mhz)
                    : gpu_answer("sm_clock_max", 1980, mhz);
}

int nvmlDeviceGetFieldValues(void*, int count, void* out) {
  struct Field {
    unsigned field, scope;
    long long timestamp, latency;
    unsigned type;
    int status;
    unsigned long long value;
  }* fields = static_cast<Field*>(out);
  for (int i = 0; i < count; ++i) {
    fields[i].value = 0xffffffff00000000;  // only the low half is the answer
    unsigned number = 0;
    fields[i].status = fields[i].field == 186  ? gpu_answer("power_instant", 75500, &number)
                       : fields[i].field == 90 ? gpu_answer("nvlink_speed", 26562, &number)
                       : fields[i].field == 91 ? gpu_answer("nvlink_count", 18, &number)
                                               : invalid_argument;
    fields[i].value |= number;
    fields[i].type = 1;
  }
  return ok;
}
int nvmlDeviceGetNvLinkState(void*, unsigned link, unsigned* up) {
  if (link >= 18) return invalid_argument;
  return gpu_answer("nvlink_up", 1, up);
}
int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* celsius) {
  return sensor == 0 ? gpu_answer("temperature", 31, celsius) : invalid_argument;
}

int nvmlDeviceGetEccMode(void*, unsigned* current, unsigned* pending) {
  const int status = gpu_answer("ecc", 1, current);
  return status == ok ? gpu_answer("ecc_pending", *current, pending) : status;
}
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  const int status = gpu_answer("mig", 0, current);
  return status == ok ? gpu_answer("mig_pending", *current, pending) : status;
}
int nvmlDeviceGetTotalEccErrors(void*, unsigned type, unsigned counter, unsigned long long* count) {
  if (type != 1 || counter != 0) return invalid_argument;
  return gpu_answer("ecc_errors", 0, count);
}
int nvmlDeviceGetRemappedRows(void*, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  const int status = gpu_answer("remapped", 0, corrected);
  *uncorrected = 0;
  if (status == ok) gpu_answer("remap_pending", 0, pending);
  return status == ok ? gpu_answer("remap_failed", 0, failed) : status;
}

int nvmlDeviceGetMemoryInfo_v2(void*, void* out) {
  struct Memory {
    unsigned version;
    unsigned long long total, reserved, free, used;
  }* memory = static_cast<Memory*>(out);
  if (memory->version != 0x02000028) return 25;
  const int status = gpu_answer("memory_used", 0, &memory->used);
  memory->total = 143771ull << 20;
  memory->reserved = 600ull << 20;
  memory->free = memory->total - memory->reserved - memory->used;
  return status;
}

/// FAKE_NVML_processes=<n>: that many, with process ids from 4000001 on; FAKE_NVML_process_pid: the
/// id of the first.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void* out) {
  struct Process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
  }* processes = static_cast<Process*>(out);
  unsigned there = 0;
  if (const int status = gpu_answer("processes", 0, &there); status != ok) return status;
  const unsigned room = *count;
  *count = there;
  if (there > room) return insufficient_size;
  for (unsigned i = 0; i < there; ++i)
    processes[i] = {4000001 + i, i % 2 ? ~0ull : 3ull << 30, ~0u, ~0u};
  return there > 0 ? gpu_answer("process_pid", processes[0].pid, &processes[0].pid) : ok;
}

}  // extern "C"
