#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom {

// NVML is loaded at run time, so that every program starts on a machine without a driver, and its
// header is in no package that Fathom needs. The values and layouts below are those of the public
// NVML API reference (docs.nvidia.com/deploy/nvml-api), reduced to what Fathom calls.

/// nvmlReturn_t.
enum class NvmlStatus : int {
  success = 0,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  driver_not_loaded = 9,
  library_not_found = 12,
  function_not_found = 13,
  gpu_is_lost = 15,
  reset_required = 16,
  library_driver_mismatch = 18,
};

/// The status in words, e.g. "not supported on this GPU".
std::string to_string(NvmlStatus status);

/// One answer of NVML: the value, or the status that says why there is none.
template <class T>
struct Reading {
  std::optional<T> value;
  NvmlStatus status = NvmlStatus::success;

  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }
  T value_or(T other) const { return value.value_or(std::move(other)); }
  /// Why there is no value; empty where there is one.
  std::string missing() const { return value ? std::string() : to_string(status); }
  /// Whether there is none because the GPU cannot be used any more.
  bool lost() const {
    return status == NvmlStatus::gpu_is_lost || status == NvmlStatus::reset_required;
  }
  /// What `convert` makes of the value.
  template <class Convert>
  auto as(Convert convert) const {
    using Result = Reading<decltype(convert(*value))>;
    return value ? Result{convert(*value), status} : Result{std::nullopt, status};
  }
};

template <class T>
Reading<T> reading_of(NvmlStatus status, T value) {
  if (status != NvmlStatus::success) return {std::nullopt, status};
  return {std::move(value), status};
}

enum class NvmlClock : unsigned { sm = 1, memory = 2 };
/// `set`: what the user set as the clock under load; it is the default where nothing is set.
enum class NvmlClockKind { current, highest, set, set_by_default };

/// A mode that takes effect after a reset: what holds now and what will.
struct NvmlMode {
  bool current = false;
  bool pending = false;
};

/// nvmlMemory_v2_t, in bytes.
struct NvmlMemory {
  unsigned version = sizeof(NvmlMemory) | 2u << 24;
  unsigned long long total = 0, reserved = 0, free = 0;
  unsigned long long used = 0;  ///< without what the driver reserves
};
static_assert(sizeof(NvmlMemory) == 40);

/// nvmlProcessInfo_t.
struct NvmlProcess {
  unsigned pid;  ///< in the host's numbering, also inside a container
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(NvmlProcess) == 24);

struct NvmlPcieLink {
  unsigned generation = 0, width = 0;          ///< now; the generation falls while the GPU idles
  unsigned generation_max = 0, width_max = 0;  ///< of this GPU in this slot
};

struct NvmlNvLinks {
  unsigned active = 0;
  double bytes_per_second = 0;  ///< of one link in one direction
};

struct NvmlRemappedRows {
  unsigned corrected = 0, uncorrected = 0;
  bool pending = false, failed = false;  ///< waits for a reset; a remapping failed
};

class NvmlDevice;

/// NVML, open and initialised as long as this or a device of it lives. Copies share one library.
/// Functions are looked up by name at each call: a lookup costs well under a microsecond, and an
/// older driver lacks some of them.
class NvmlLibrary {
 public:
  /// Opens libnvidia-ml.so.1, or the file that environment variable FATHOM_NVML_LIBRARY names.
  /// Never throws: without NVML `available` is false and every reading is empty.
  NvmlLibrary();

  bool available() const { return status() == NvmlStatus::success; }
  NvmlStatus status() const { return status_; }  ///< of opening and initialising it

  Reading<std::string> driver_version() const { return text("nvmlSystemGetDriverVersion"); }
  Reading<unsigned> device_count() const { return number<unsigned>("nvmlDeviceGetCount_v2"); }
  Reading<bool> confidential_computing() const;
  Reading<NvmlDevice> device_by_index(unsigned index) const;
  /// `bus_id` as of cudaDeviceGetPCIBusId. Never by CUDA's ordinal: CUDA_VISIBLE_DEVICES and
  /// CUDA_DEVICE_ORDER renumber CUDA's devices but not NVML's.
  Reading<NvmlDevice> device_by_pci_bus_id(const std::string& bus_id) const;

 private:
  friend class NvmlDevice;
  template <class... Args>
  static NvmlStatus call(void* library, const char* function, Args... args) {
    const auto address = reinterpret_cast<int (*)(Args...)>(dlsym(library, function));
    return address ? static_cast<NvmlStatus>(address(args...)) : NvmlStatus::function_not_found;
  }
  /// What the function writes through its last argument.
  template <class T, class... Args>
  Reading<T> number(const char* function, Args... args) const {
    if (!available()) return {std::nullopt, status()};
    T value{};
    const NvmlStatus answer = call(library_.get(), function, args..., &value);
    return reading_of(answer, value);
  }
  template <class... Args>
  Reading<std::string> text(const char* function, Args... args) const {
    if (!available()) return {std::nullopt, status()};
    char buffer[128]{};
    const NvmlStatus answer =
        call(library_.get(), function, args..., buffer, unsigned{sizeof buffer});
    return reading_of(answer, std::string(buffer));
  }

  std::shared_ptr<void> library_;
  NvmlStatus status_ = NvmlStatus::library_not_found;
};

/// One GPU as NVML sees it. Every call may be refused by itself.
class NvmlDevice {
 public:
  Reading<std::string> vbios() const { return nvml_.text("nvmlDeviceGetVbiosVersion", device_); }
  Reading<double> clock_hz(NvmlClock which, NvmlClockKind kind = NvmlClockKind::current) const {
    constexpr const char* functions[] = {"nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo",
                                         "nvmlDeviceGetApplicationsClock",
                                         "nvmlDeviceGetDefaultApplicationsClock"};
    return scaled<unsigned>(1e6, functions[static_cast<int>(kind)], static_cast<unsigned>(which));
  }
  /// Bits of nvmlClocksEventReasons; see `throttle_reason_names`.
  Reading<std::uint64_t> clock_event_reasons() const {
    return number<std::uint64_t>("nvmlDeviceGetCurrentClocksEventReasons");
  }
  /// Now, where the GPU has an instantaneous reading; else its running average.
  Reading<double> power_w() const;
  Reading<double> power_limit_w() const { return milli("nvmlDeviceGetEnforcedPowerLimit"); }
  Reading<double> default_power_limit_w() const {
    return milli("nvmlDeviceGetPowerManagementDefaultLimit");
  }
  Reading<double> energy_j() const {
    return milli<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption");
  }
  Reading<double> temperature_c() const {
    return scaled<unsigned>(1, "nvmlDeviceGetTemperature", 0u /* the GPU's own sensor */);
  }
  Reading<NvmlMode> ecc() const { return mode("nvmlDeviceGetEccMode"); }
  Reading<NvmlMode> mig() const { return mode("nvmlDeviceGetMigMode"); }
  Reading<std::uint64_t> uncorrected_ecc_errors() const {  ///< since the driver was loaded
    return number<std::uint64_t>("nvmlDeviceGetTotalEccErrors", 1u /* uncorrected */, 0u);
  }
  Reading<NvmlRemappedRows> remapped_rows() const;
  Reading<bool> persistence() const {
    return number<unsigned>("nvmlDeviceGetPersistenceMode").as([](unsigned on) { return on != 0; });
  }
  Reading<std::string> compute_mode() const {
    return word("nvmlDeviceGetComputeMode",
                {"default", "exclusive process", "prohibited", "exclusive process"});
  }
  Reading<std::string> virtualization() const {
    return word("nvmlDeviceGetVirtualizationMode",
                {"none", "passthrough", "vGPU", "vGPU host", "vSGA host"});
  }
  Reading<NvmlPcieLink> pcie_link() const;
  /// Links that are up; none is a reading too.
  Reading<NvmlNvLinks> nvlinks() const;
  Reading<NvmlMemory> memory() const { return number<NvmlMemory>("nvmlDeviceGetMemoryInfo_v2"); }
  Reading<std::vector<NvmlProcess>> compute_processes() const;

 private:
  friend class NvmlLibrary;
  NvmlDevice(NvmlLibrary nvml, void* device) : nvml_(std::move(nvml)), device_(device) {}

  template <class... Args>
  NvmlStatus call(const char* function, Args... args) const {
    return NvmlLibrary::call(nvml_.library_.get(), function, device_, args...);
  }
  template <class T, class... Args>
  Reading<T> number(const char* function, Args... args) const {
    return nvml_.number<T>(function, device_, args...);
  }
  /// The word for a number of an enumeration.
  Reading<std::string> word(const char* function, const std::vector<std::string>& words) const {
    return number<unsigned>(function).as(
        [&](unsigned n) { return n < words.size() ? words[n] : "unknown"; });
  }
  template <class T, class... Args>
  Reading<double> scaled(double factor, const char* function, Args... args) const {
    return number<T>(function, args...).as([factor](T n) {
      return static_cast<double>(n) * factor;
    });
  }
  template <class T = unsigned>
  Reading<double> milli(const char* function) const {
    return scaled<T>(1e-3, function);
  }
  Reading<NvmlMode> mode(const char* function) const;

  NvmlLibrary nvml_;  ///< keeps it open
  void* device_;
};

/// Names of the reasons that hold clocks down, sorted: sw_power_cap, hw_slowdown, ... An idle GPU
/// is no reason. Bits that are unknown here come as "unknown_0x...".
std::vector<std::string> throttle_reason_names(std::uint64_t clock_event_reasons);

}  // namespace fathom
