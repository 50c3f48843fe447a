#include "harness/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace fathom {
namespace {

// Structures that NVML fills, laid out as in its reference.
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40);
constexpr unsigned memory_v2_version = sizeof(MemoryV2) | 2u << 24;

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);
constexpr unsigned long long process_memory_unknown = ~0ull;

struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency_us;
  unsigned value_type;
  int status;
  union {
    double f64;
    unsigned u32;
    unsigned long long u64;
  } value;
};
static_assert(sizeof(FieldValue) == 40);
constexpr unsigned field_power_instant = 186;
constexpr unsigned field_nvlink_speed = 90;  // in MB/s, of the links that are up
constexpr unsigned field_nvlink_count = 91;

struct ConfidentialState {
  unsigned environment, feature, developer_tools;
};

template <class T>
Reading<T> reading(NvmlStatus status, T value) {
  if (status != NvmlStatus::success) return {std::nullopt, status};
  return {std::move(value), status};
}

template <class To, class From, class Convert>
Reading<To> convert(const Reading<From>& from, Convert convert_value) {
  if (!from) return {std::nullopt, from.status};
  return {convert_value(*from), from.status};
}

Reading<double> scaled(const Reading<unsigned>& from, double factor) {
  return convert<double>(
      from, [factor](unsigned value) { return value * factor; });
}

/// The library, if it could be opened. Functions are looked up by name at each call: a lookup costs
/// well under a microsecond, and an older driver lacks some of them.
struct Library {
  void* handle = nullptr;
  NvmlStatus status = NvmlStatus::library_not_found;  ///< of opening and initialising it

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (status == NvmlStatus::success) call("nvmlShutdown");
    if (handle) dlclose(handle);
  }

  template <class... Args>
  NvmlStatus call(const char* function, Args... args) const {
    using Function = int (*)(Args...);
    const auto address = reinterpret_cast<Function>(dlsym(handle, function));
    if (!address) return NvmlStatus::function_not_found;
    return static_cast<NvmlStatus>(address(args...));
  }
  /// What the function writes through its last argument.
  template <class T, class... Args>
  Reading<T> number(const char* function, Args... args) const {
    if (status != NvmlStatus::success) return {std::nullopt, status};
    T value{};
    const NvmlStatus answer = call(function, args..., &value);
    return reading(answer, value);
  }
  template <class... Args>
  Reading<std::string> text(const char* function, Args... args) const {
    if (status != NvmlStatus::success) return {std::nullopt, status};
    std::array<char, 128> buffer{};
    const NvmlStatus answer =
        call(function, args..., buffer.data(), static_cast<unsigned>(buffer.size()));
    return reading(answer, std::string(buffer.data()));
  }
};

const Library& as_library(const std::shared_ptr<const void>& pointer) {
  return *static_cast<const Library*>(pointer.get());
}

constexpr double mega = 1e6, milli = 1e-3;

}  // namespace

std::string to_string(NvmlStatus status) {
  constexpr std::pair<NvmlStatus, const char*> words[] = {
      {NvmlStatus::success, "success"},
      {NvmlStatus::uninitialized, "NVML is not initialised"},
      {NvmlStatus::not_supported, "not supported on this GPU"},
      {NvmlStatus::no_permission, "not permitted to this user"},
      {NvmlStatus::driver_not_loaded, "the NVIDIA kernel driver is not loaded"},
      {NvmlStatus::library_not_found, "NVML (libnvidia-ml.so.1) is not installed"},
      {NvmlStatus::function_not_found, "this driver's NVML has no such function"},
      {NvmlStatus::gpu_is_lost, "the GPU has fallen off the bus"},
      {NvmlStatus::reset_required, "the GPU needs a reset"},
      {NvmlStatus::library_driver_mismatch,
       "NVML and the kernel driver are of different versions (a reboot or a reload of the driver "
       "is due)"},
      {NvmlStatus::gpu_not_found, "there is no such GPU"},
  };
  const auto known = std::ranges::find(words, status, &std::pair<NvmlStatus, const char*>::first);
  return known != std::end(words) ? known->second
                                  : fmt::format("NVML error {}", static_cast<int>(status));
}

NvmlDevice::NvmlDevice(std::shared_ptr<const void> library, void* device)
    : library_(std::move(library)), device_(device) {}

template <class... Args>
NvmlStatus NvmlDevice::call(const char* function, Args... args) const {
  return as_library(library_).call(function, device_, args...);
}

template <class T, class... Args>
Reading<T> NvmlDevice::number(const char* function, Args... args) const {
  return as_library(library_).number<T>(function, device_, args...);
}

Reading<std::string> NvmlDevice::text(const char* function) const {
  return as_library(library_).text(function, device_);
}

Reading<std::string> NvmlDevice::name() const { return text("nvmlDeviceGetName"); }
Reading<std::string> NvmlDevice::uuid() const { return text("nvmlDeviceGetUUID"); }
Reading<std::string> NvmlDevice::vbios() const { return text("nvmlDeviceGetVbiosVersion"); }

Reading<double> NvmlDevice::clock_hz(NvmlClock which) const {
  return scaled(number<unsigned>("nvmlDeviceGetClockInfo", static_cast<unsigned>(which)), mega);
}
Reading<double> NvmlDevice::clock_max_hz(NvmlClock which) const {
  return scaled(number<unsigned>("nvmlDeviceGetMaxClockInfo", static_cast<unsigned>(which)), mega);
}
Reading<double> NvmlDevice::application_clock_hz(NvmlClock which) const {
  return scaled(number<unsigned>("nvmlDeviceGetApplicationsClock", static_cast<unsigned>(which)),
                mega);
}
Reading<double> NvmlDevice::default_application_clock_hz(NvmlClock which) const {
  return scaled(
      number<unsigned>("nvmlDeviceGetDefaultApplicationsClock", static_cast<unsigned>(which)),
      mega);
}

Reading<std::uint64_t> NvmlDevice::clock_event_reasons() const {
  const auto reasons = number<std::uint64_t>("nvmlDeviceGetCurrentClocksEventReasons");
  if (reasons.status != NvmlStatus::function_not_found) return reasons;
  return number<std::uint64_t>("nvmlDeviceGetCurrentClocksThrottleReasons");  // before driver 535
}

Reading<double> NvmlDevice::power_w() const {
  FieldValue field{};
  field.field = field_power_instant;
  const NvmlStatus status = call("nvmlDeviceGetFieldValues", 1, &field);
  if (status == NvmlStatus::success && field.status == 0) return {field.value.u32 * milli, status};
  return power_average_w();
}
Reading<double> NvmlDevice::power_average_w() const {
  return scaled(number<unsigned>("nvmlDeviceGetPowerUsage"), milli);
}
Reading<double> NvmlDevice::power_limit_w() const {
  return scaled(number<unsigned>("nvmlDeviceGetEnforcedPowerLimit"), milli);
}
Reading<double> NvmlDevice::default_power_limit_w() const {
  return scaled(number<unsigned>("nvmlDeviceGetPowerManagementDefaultLimit"), milli);
}
Reading<double> NvmlDevice::energy_j() const {
  return convert<double>(
      number<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption"),
      [](unsigned long long mj) { return static_cast<double>(mj) * milli; });
}

Reading<double> NvmlDevice::temperature_c() const {
  return scaled(number<unsigned>("nvmlDeviceGetTemperature", 0u /* the GPU's own sensor */), 1);
}
Reading<double> NvmlDevice::slowdown_temperature_c() const {
  return scaled(number<unsigned>("nvmlDeviceGetTemperatureThreshold", 1u /* slowdown */), 1);
}

Reading<NvmlMode> NvmlDevice::mode(const char* function) const {
  unsigned current = 0, pending = 0;
  const NvmlStatus status = call(function, &current, &pending);
  return reading(status, NvmlMode{current != 0, pending != 0});
}
Reading<NvmlMode> NvmlDevice::ecc() const { return mode("nvmlDeviceGetEccMode"); }
Reading<NvmlMode> NvmlDevice::mig() const { return mode("nvmlDeviceGetMigMode"); }

Reading<std::uint64_t> NvmlDevice::uncorrected_ecc_errors() const {
  constexpr unsigned uncorrected = 1, since_driver_load = 0;
  return number<std::uint64_t>("nvmlDeviceGetTotalEccErrors", uncorrected, since_driver_load);
}
Reading<NvmlRemappedRows> NvmlDevice::remapped_rows() const {
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  const NvmlStatus status =
      call("nvmlDeviceGetRemappedRows", &corrected, &uncorrected, &pending, &failed);
  return reading(status, NvmlRemappedRows{corrected, uncorrected, pending != 0, failed != 0});
}

Reading<bool> NvmlDevice::persistence() const {
  return convert<bool>(
      number<unsigned>("nvmlDeviceGetPersistenceMode"), [](unsigned mode) { return mode != 0; });
}
Reading<NvmlComputeMode> NvmlDevice::compute_mode() const {
  return number<NvmlComputeMode>("nvmlDeviceGetComputeMode");
}
Reading<NvmlVirtualization> NvmlDevice::virtualization() const {
  return number<NvmlVirtualization>("nvmlDeviceGetVirtualizationMode");
}

Reading<NvmlPcieLink> NvmlDevice::pcie_link() const {
  NvmlPcieLink link;
  const std::pair<const char*, unsigned*> parts[] = {
      {"nvmlDeviceGetCurrPcieLinkGeneration", &link.generation},
      {"nvmlDeviceGetCurrPcieLinkWidth", &link.width},
      {"nvmlDeviceGetMaxPcieLinkGeneration", &link.generation_max},
      {"nvmlDeviceGetMaxPcieLinkWidth", &link.width_max}};
  for (const auto& [function, part] : parts)
    if (const NvmlStatus status = call(function, part); status != NvmlStatus::success)
      return {std::nullopt, status};
  return {link, NvmlStatus::success};
}

Reading<NvmlNvLinks> NvmlDevice::nvlinks() const {
  FieldValue fields[2]{};
  fields[0].field = field_nvlink_count;
  fields[1].field = field_nvlink_speed;
  const NvmlStatus status = call("nvmlDeviceGetFieldValues", 2, &fields[0]);
  if (status != NvmlStatus::success) return {std::nullopt, status};
  if (fields[0].status != 0) return {std::nullopt, static_cast<NvmlStatus>(fields[0].status)};
  NvmlNvLinks links;
  for (unsigned link = 0; link < fields[0].value.u32; ++link) {
    unsigned up = 0;
    if (call("nvmlDeviceGetNvLinkState", link, &up) == NvmlStatus::success && up == 1)
      ++links.active;
  }
  if (links.active == 0) return {links, NvmlStatus::success};
  if (fields[1].status != 0) return {std::nullopt, static_cast<NvmlStatus>(fields[1].status)};
  links.bytes_per_second = fields[1].value.u32 * mega;
  return {links, NvmlStatus::success};
}

Reading<NvmlMemory> NvmlDevice::memory() const {
  MemoryV2 memory{};
  memory.version = memory_v2_version;
  const NvmlStatus status = call("nvmlDeviceGetMemoryInfo_v2", &memory);
  return reading(status, NvmlMemory{memory.total, memory.used, memory.free});
}

Reading<std::vector<NvmlProcess>> NvmlDevice::compute_processes() const {
  std::vector<ProcessInfo> list(32);
  unsigned count = 0;
  NvmlStatus status = NvmlStatus::insufficient_size;
  // Processes may come between the answer "too small" and the next try: a few tries are enough.
  for (int tries = 0; status == NvmlStatus::insufficient_size && tries < 4; ++tries) {
    if (count > list.size()) list.resize(count + 8);
    count = static_cast<unsigned>(list.size());
    status = call("nvmlDeviceGetComputeRunningProcesses_v3", &count, list.data());
  }
  if (status != NvmlStatus::success) return {std::nullopt, status};
  std::vector<NvmlProcess> processes;
  for (unsigned i = 0; i < count; ++i) {
    NvmlProcess process{list[i].pid, std::nullopt};
    if (list[i].used_bytes != process_memory_unknown) process.used_bytes = list[i].used_bytes;
    processes.push_back(process);
  }
  return reading(status, std::move(processes));
}

NvmlLibrary::NvmlLibrary() {
  const char* override_path = std::getenv("FATHOM_NVML_LIBRARY");
  const char* path = override_path ? override_path : "libnvidia-ml.so.1";
  const auto library = std::make_shared<Library>();
  library_ = library;
  library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library->handle) library->status = library->call("nvmlInit_v2");
  status_ = library->status;
  if (!library->handle && override_path)
    problem_ = fmt::format("NVML cannot be loaded from {}", path);
  else if (!available())
    problem_ = to_string(status_);
}

Reading<std::string> NvmlLibrary::driver_version() const {
  return as_library(library_).text("nvmlSystemGetDriverVersion");
}

Reading<unsigned> NvmlLibrary::device_count() const {
  return as_library(library_).number<unsigned>("nvmlDeviceGetCount_v2");
}

Reading<bool> NvmlLibrary::confidential_computing() const {
  return convert<bool>(
      as_library(library_).number<ConfidentialState>("nvmlSystemGetConfComputeState"),
      [](const ConfidentialState& state) { return state.feature != 0; });
}

template <class Key>
Reading<NvmlDevice> NvmlLibrary::device_by(const char* function, Key key) const {
  return convert<NvmlDevice>(
      as_library(library_).number<void*>(function, key),
      [this](void* device) { return NvmlDevice(library_, device); });
}

Reading<NvmlDevice> NvmlLibrary::device_by_index(unsigned index) const {
  return device_by("nvmlDeviceGetHandleByIndex_v2", index);
}

Reading<NvmlDevice> NvmlLibrary::device_by_pci_bus_id(const std::string& bus_id) const {
  return device_by("nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str());
}

std::vector<NvmlProcess> other_processes(std::vector<NvmlProcess> all, bool own_context) {
  const auto own = static_cast<unsigned>(getpid());
  const auto removed = std::erase_if(all, [own](const auto& p) { return p.pid == own; });
  if (own_context && removed == 0 && !all.empty()) all.pop_back();
  return all;
}

std::vector<std::string> throttle_reason_names(std::uint64_t bits) {
  static constexpr std::pair<std::uint64_t, const char*> names[] = {
      {0x002, "applications_clocks_setting"},
      {0x004, "sw_power_cap"},
      {0x008, "hw_slowdown"},
      {0x010, "sync_boost"},
      {0x020, "sw_thermal_slowdown"},
      {0x040, "hw_thermal_slowdown"},
      {0x080, "hw_power_brake"},
      {0x100, "display_clock_setting"},
      {0x200, "board_limit"},
      {0x400, "reliability"}};
  constexpr std::uint64_t gpu_idle = 0x001;
  bits &= ~gpu_idle;
  std::vector<std::string> found;
  for (const auto& [bit, name] : names) {
    if (bits & bit) found.emplace_back(name);
    bits &= ~bit;
  }
  if (bits) found.push_back(fmt::format("unknown_{:#x}", bits));
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace fathom
