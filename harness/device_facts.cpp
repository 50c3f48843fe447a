#include "harness/device_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "harness/cuda_device.h"
#include "harness/doctor.h"
#include "models/bandwidth.h"
#include "models/occupancy.h"
#include "results/fail.h"

namespace fathom {
namespace {

std::string name_of(bool on) { return on ? "enabled" : "disabled"; }
std::string name_of(NvmlMode mode) { return name_of(mode.current); }
std::string name_of(const std::string& text) { return text; }
std::string name_of(NvmlComputeMode mode) {
  return mode == NvmlComputeMode::shared              ? "default"
         : mode == NvmlComputeMode::prohibited        ? "prohibited"
         : mode <= NvmlComputeMode::exclusive_process ? "exclusive process"
                                                      : "unknown";
}

std::string name_of(NvmlVirtualization mode) {
  constexpr std::array names{"none", "passthrough", "vGPU", "vGPU host", "vSGA host"};
  const auto number = static_cast<std::size_t>(mode);
  return number < names.size() ? names[number] : "unknown";
}

/// The highest generation, since the current one falls while the GPU idles, and the lanes in use.
std::string name_of(const NvmlPcieLink& link) {
  return fmt::format("generation {}, x{}{}", link.generation_max, link.width,
                     link.width == link.width_max ? "" : fmt::format(" of x{}", link.width_max));
}

template <class T>
std::string described(const Reading<T>& reading) {
  if (reading) return name_of(*reading);
  return reading.status == NvmlStatus::not_supported ? "not supported"
                                                     : "unknown: " + reading.missing();
}

Fingerprint fingerprint_of(const CudaDevice& facts, const NvmlLibrary& nvml,
                           const Reading<NvmlDevice>& found) {
  const CudaVersions versions = read_cuda_versions();
  Fingerprint print;
  print.gpu_name = facts.name;
  print.gpu_uuid_hash = uuid_hash(facts.uuid);
  print.compute_capability = fmt::format("{}.{}", facts.major, facts.minor);
  print.cuda_driver = version_text(versions.driver);
  print.cuda_runtime = version_text(versions.runtime);
  print.toolkit = toolkit_version();
  print.driver = described(nvml.driver_version());
  print.sms = facts.sms;
  print.memory_bytes = static_cast<std::int64_t>(facts.memory_bytes);
  print.l2_bytes = static_cast<std::int64_t>(facts.l2_bytes);
  if (facts.memory_bus_bits > 0) print.memory_bus_bits = facts.memory_bus_bits;
  if (facts.sm_clock_max_hz > 0) print.sm_clock_max_hz = facts.sm_clock_max_hz;
  if (facts.memory_clock_max_hz > 0) print.memory_clock_max_hz = facts.memory_clock_max_hz;

  print.confidential_computing = described(nvml.confidential_computing());
  if (!found) {
    const std::string why =
        "unknown: " + (nvml.available() ? to_string(found.status) : nvml.problem());
    print.vbios = print.ecc = print.mig = print.persistence = print.pcie_link =
        print.virtualization = print.compute_mode = why;
    return print;
  }
  const NvmlDevice& gpu = *found;
  print.vbios = described(gpu.vbios());
  print.power_limit_w = gpu.power_limit_w().value;
  print.ecc = described(gpu.ecc());
  print.mig = described(gpu.mig());
  print.persistence = described(gpu.persistence());
  print.pcie_link = described(gpu.pcie_link());
  print.virtualization = described(gpu.virtualization());
  print.compute_mode = described(gpu.compute_mode());
  return print;
}

void add_bounds(DeviceFacts& facts) {
  models::PhysicalDevice device{.sms = facts.sms,
                                .sm_clock_hz = facts.sm_clock_max_hz,
                                .memory_bus_bits = facts.memory_bus_bits,
                                .memory_clock_hz = facts.memory_clock_max_hz};
  const auto add = [&](models::PhysicalBound (*formula)(const models::PhysicalDevice&)) {
    try {
      const models::PhysicalBound bound = formula(device);
      facts.bounds.push_back({bound.name, bound.unit, bound.source, bound.value});
    } catch (const std::invalid_argument& missing) {
      facts.warnings.push_back(fmt::format("A physical bound is unknown: {}.", missing.what()));
    }
  };
  add(models::dram_bandwidth_bound);
  try {
    const models::SmLimits& limits = models::sm_limits(facts.major, facts.minor);
    device.l1_bytes_per_clock = limits.l1_bytes_per_clock;
    device.fp32_per_clock = limits.fp32_per_clock;
  } catch (const std::invalid_argument& unknown_chip) {
    facts.warnings.push_back(
        fmt::format("Bounds of the SM are unknown for this chip: {}.", unknown_chip.what()));
    return;
  }
  add(models::shared_bandwidth_bound);
  add(models::l1_bandwidth_bound);
  add(models::fp32_fma_bound);
}

/// In exclusive mode a second process is refused only when it first uses the GPU: try it now, so
/// that a program ends with a clear sentence before it has begun.
void require_usable(int ordinal, const Reading<NvmlDevice>& gpu) {
  if (!gpu) return;
  const NvmlComputeMode mode = gpu->compute_mode().value_or(NvmlComputeMode::shared);
  if (mode == NvmlComputeMode::shared) return;
  if (mode == NvmlComputeMode::prohibited)
    fail(ExitCode::gpu_busy,
         "GPU {} is in compute mode \"prohibited\": set it back with nvidia-smi "
         "-c DEFAULT, as root.",
         ordinal);
  FATHOM_CUDA(cudaSetDevice(ordinal));
  FATHOM_CUDA(cudaFree(nullptr));
}

}  // namespace

DeviceFacts assemble_device_facts(const CudaDevice& cuda, const NvmlLibrary& nvml,
                                  bool beside_siblings) {
  const Reading<NvmlDevice> gpu = nvml.device_by_pci_bus_id(cuda.pci_bus_id);
  if (gpu.status == NvmlStatus::gpu_is_lost || gpu.status == NvmlStatus::reset_required)
    fail(ExitCode::gpu_lost,
         "GPU {} cannot be used ({}): look for Xid lines in the kernel log "
         "(dmesg) and restart the machine.",
         cuda.ordinal, to_string(gpu.status));
  DeviceFacts facts;
  static_cast<CudaDevice&>(facts) = cuda;
  // The higher of the two sources: a bound must hold whatever clock the GPU can reach.
  const auto nvml_clock = [&gpu](NvmlClock which) {
    return gpu ? gpu->clock_max_hz(which).value_or(0) : 0;
  };
  facts.sm_clock_max_hz = std::max(cuda.sm_clock_max_hz, nvml_clock(NvmlClock::sm));
  facts.memory_clock_max_hz = std::max(cuda.memory_clock_max_hz, nvml_clock(NvmlClock::memory));
  facts.fingerprint = fingerprint_of(facts, nvml, gpu);
  add_bounds(facts);
  for (const Check& check : check_gpu(cuda.ordinal, nvml, gpu))
    if ((check.status == CheckStatus::warn || check.status == CheckStatus::fail) &&
        !(beside_siblings && (check.id == "processes" || check.id == "memory")))
      facts.warnings.push_back(
          fmt::format("{}: {}. {}", check.what, check.detail, check.what_to_do));
  return facts;
}

DeviceFacts query_device_facts(int ordinal, bool beside_siblings) {
  const NvmlLibrary nvml;
  const CudaDevice cuda = read_cuda_device(ordinal, nvml);
  DeviceFacts facts = assemble_device_facts(cuda, nvml, beside_siblings);
  // After the facts: a context of our own would show among the GPU's processes and memory.
  require_usable(ordinal, nvml.device_by_pci_bus_id(cuda.pci_bus_id));
  return facts;
}

const DeviceBound& bound(const DeviceFacts& facts, const std::string& name) {
  for (const DeviceBound& candidate : facts.bounds)
    if (candidate.name == name) return candidate;
  throw std::out_of_range(fmt::format("GPU {} has no bound named {}", facts.ordinal, name));
}

}  // namespace fathom
