#pragma once

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
  uninitialized = 1,
  invalid_argument = 2,
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
  gpu_not_found = 28,
  unknown = 999,
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
};

enum class NvmlClock : unsigned { graphics = 0, sm = 1, memory = 2 };
enum class NvmlComputeMode : int {
  shared = 0,
  exclusive_thread = 1,
  prohibited = 2,
  exclusive_process = 3
};
enum class NvmlVirtualization : int {
  none = 0,
  passthrough = 1,
  vgpu = 2,
  host_vgpu = 3,
  host_vsga = 4
};

/// A mode that takes effect after a reset: what holds now and what will.
struct NvmlMode {
  bool current = false;
  bool pending = false;
};

struct NvmlMemory {
  std::uint64_t total = 0, used = 0, free = 0;  ///< bytes; `used` without what the driver reserves
};

struct NvmlProcess {
  unsigned pid = 0;                         ///< in the host's numbering, also inside a container
  std::optional<std::uint64_t> used_bytes;  ///< empty where the driver does not tell
};

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

/// One GPU as NVML sees it. Every call may be refused by itself.
class NvmlDevice {
 public:
  Reading<std::string> name() const;
  Reading<std::string> uuid() const;
  Reading<std::string> vbios() const;
  Reading<double> clock_hz(NvmlClock which) const;
  Reading<double> clock_max_hz(NvmlClock which) const;
  /// What the user set as the clock under load; equals the default where nothing is set.
  Reading<double> application_clock_hz(NvmlClock which) const;
  Reading<double> default_application_clock_hz(NvmlClock which) const;
  /// Bits of nvmlClocksEventReasons; see `throttle_reason_names`.
  Reading<std::uint64_t> clock_event_reasons() const;
  /// Now, where the GPU has an instantaneous reading; else its running average.
  Reading<double> power_w() const;
  Reading<double> power_average_w() const;
  Reading<double> power_limit_w() const;
  Reading<double> default_power_limit_w() const;
  Reading<double> energy_j() const;
  Reading<double> temperature_c() const;
  Reading<double> slowdown_temperature_c() const;
  Reading<NvmlMode> ecc() const;
  Reading<NvmlMode> mig() const;
  Reading<std::uint64_t> uncorrected_ecc_errors() const;  ///< since the driver was loaded
  Reading<NvmlRemappedRows> remapped_rows() const;
  Reading<bool> persistence() const;
  Reading<NvmlComputeMode> compute_mode() const;
  Reading<NvmlVirtualization> virtualization() const;
  Reading<NvmlPcieLink> pcie_link() const;
  /// Links that are up; none is a reading too.
  Reading<NvmlNvLinks> nvlinks() const;
  Reading<NvmlMemory> memory() const;
  Reading<std::vector<NvmlProcess>> compute_processes() const;

 private:
  friend class NvmlLibrary;
  NvmlDevice(std::shared_ptr<const void> library, void* device);
  template <class... Args>
  NvmlStatus call(const char* function, Args... args) const;
  template <class T, class... Args>
  Reading<T> number(const char* function, Args... args) const;
  Reading<std::string> text(const char* function) const;
  Reading<NvmlMode> mode(const char* function) const;

  std::shared_ptr<const void> library_;  ///< keeps NVML open
  void* device_;
};

/// NVML, open and initialised as long as this or a device of it lives. Copies share one library.
class NvmlLibrary {
 public:
  /// Opens libnvidia-ml.so.1, or the file that environment variable FATHOM_NVML_LIBRARY names.
  /// Never throws: without NVML `available` is false and every reading is empty.
  NvmlLibrary();

  bool available() const { return status_ == NvmlStatus::success; }
  NvmlStatus status() const { return status_; }
  /// Why NVML is not available, as one phrase; empty where it is.
  const std::string& problem() const { return problem_; }

  Reading<std::string> driver_version() const;
  Reading<unsigned> device_count() const;
  Reading<bool> confidential_computing() const;
  Reading<NvmlDevice> device_by_index(unsigned index) const;
  /// `bus_id` as of cudaDeviceGetPCIBusId. Never by CUDA's ordinal: CUDA_VISIBLE_DEVICES and
  /// CUDA_DEVICE_ORDER renumber CUDA's devices but not NVML's.
  Reading<NvmlDevice> device_by_pci_bus_id(const std::string& bus_id) const;

 private:
  template <class Key>
  Reading<NvmlDevice> device_by(const char* function, Key key) const;

  std::shared_ptr<const void> library_;
  NvmlStatus status_ = NvmlStatus::library_not_found;
  std::string problem_;
};

/// Those of a GPU's processes that are not this one, where `own_context` says whether this one has
/// used the GPU: in a container NVML numbers processes as the host does, and one that cannot be
/// told from the others is this program then.
std::vector<NvmlProcess> other_processes(std::vector<NvmlProcess> all, bool own_context);

/// Names of the reasons that hold clocks down, sorted: sw_power_cap, hw_slowdown, ... An idle GPU
/// is no reason. Bits that are unknown here come as "unknown_0x...".
std::vector<std::string> throttle_reason_names(std::uint64_t clock_event_reasons);

}  // namespace fathom
