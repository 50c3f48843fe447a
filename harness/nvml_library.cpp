#include "harness/nvml_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace fathom {
namespace {

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned field, scope = 0;
  long long timestamp = 0, latency_us = 0;
  unsigned value_type = 0;
  int status = 0;
  unsigned value = 0, upper_half = 0;  // of what may have 64 bits; those below have 32
};
static_assert(sizeof(FieldValue) == 40);
constexpr unsigned field_power_instant = 186;
constexpr unsigned field_nvlink_speed = 90;  // in MB/s, of the links that are up
constexpr unsigned field_nvlink_count = 91;

}  // namespace

std::string to_string(NvmlStatus status) {
  constexpr std::pair<NvmlStatus, const char*> words[] = {
      {NvmlStatus::success, "success"},
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
  };
  const auto known = std::ranges::find(words, status, &std::pair<NvmlStatus, const char*>::first);
  return known != std::end(words) ? known->second
                                  : fmt::format("NVML error {}", static_cast<int>(status));
}

Reading<double> NvmlDevice::power_w() const {
  FieldValue field{field_power_instant};
  const NvmlStatus status = call("nvmlDeviceGetFieldValues", 1, &field);
  if (status == NvmlStatus::success && field.status == 0) return {field.value * 1e-3, status};
  return milli("nvmlDeviceGetPowerUsage");
}

Reading<NvmlMode> NvmlDevice::mode(const char* function) const {
  unsigned current = 0, pending = 0;
  const NvmlStatus status = call(function, &current, &pending);
  return reading_of(status, NvmlMode{current != 0, pending != 0});
}

Reading<NvmlRemappedRows> NvmlDevice::remapped_rows() const {
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  const NvmlStatus status =
      call("nvmlDeviceGetRemappedRows", &corrected, &uncorrected, &pending, &failed);
  return reading_of(status, NvmlRemappedRows{corrected, uncorrected, pending != 0, failed != 0});
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
  FieldValue fields[]{{field_nvlink_count}, {field_nvlink_speed}};
  const NvmlStatus status = call("nvmlDeviceGetFieldValues", 2, &fields[0]);
  if (status != NvmlStatus::success) return {std::nullopt, status};
  if (fields[0].status != 0) return {std::nullopt, static_cast<NvmlStatus>(fields[0].status)};
  NvmlNvLinks links;
  for (unsigned link = 0; link < fields[0].value; ++link) {
    unsigned up = 0;
    if (call("nvmlDeviceGetNvLinkState", link, &up) == NvmlStatus::success && up == 1)
      ++links.active;
  }
  if (links.active == 0) return {links, NvmlStatus::success};
  if (fields[1].status != 0) return {std::nullopt, static_cast<NvmlStatus>(fields[1].status)};
  links.bytes_per_second = fields[1].value * 1e6;
  return {links, NvmlStatus::success};
}

Reading<std::vector<NvmlProcess>> NvmlDevice::compute_processes() const {
  std::vector<NvmlProcess> list(32);
  unsigned count = 0;
  NvmlStatus status = NvmlStatus::insufficient_size;
  // Processes may come between the answer "too small" and the next try: a few tries are enough.
  for (int tries = 0; status == NvmlStatus::insufficient_size && tries < 4; ++tries) {
    if (count > list.size()) list.resize(count + 8);
    count = static_cast<unsigned>(list.size());
    status = call("nvmlDeviceGetComputeRunningProcesses_v3", &count, list.data());
  }
  if (status == NvmlStatus::success) list.resize(count);
  return reading_of(status, std::move(list));
}

NvmlLibrary::NvmlLibrary() {
  const char* const named = std::getenv("FATHOM_NVML_LIBRARY");
  void* const opened = dlopen(named ? named : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return;
  status_ = call(opened, "nvmlInit_v2");
  library_ = {opened, [initialised = available()](void* library) {
                if (initialised) call(library, "nvmlShutdown");
                dlclose(library);
              }};
}

Reading<NvmlDevice> NvmlLibrary::device_by_index(unsigned index) const {
  return number<void*>("nvmlDeviceGetHandleByIndex_v2", index).as([this](void* device) {
    return NvmlDevice(*this, device);
  });
}
Reading<NvmlDevice> NvmlLibrary::device_by_pci_bus_id(const std::string& bus_id) const {
  return number<void*>("nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str()).as([this](void* device) {
    return NvmlDevice(*this, device);
  });
}

Reading<bool> NvmlLibrary::confidential_computing() const {
  struct State {
    unsigned environment, feature, developer_tools;
  };
  return number<State>("nvmlSystemGetConfComputeState").as([](const State& state) {
    return state.feature != 0;
  });
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
