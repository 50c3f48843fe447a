#include "harness/device_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "harness/doctor.h"
#include "models/bandwidth.h"
#include "models/occupancy.h"
#include "results/text.h"

namespace fathom {
namespace {

/// A clock in kilohertz, or 0 where the runtime no longer tells: NVML is asked instead.
double clock_hz(cudaDeviceAttr which, int ordinal) {
  int khz = 0;
  if (cudaDeviceGetAttribute(&khz, which, ordinal) != cudaSuccess) {
    cudaGetLastError();  // so that the next check does not see this failure
    return 0;
  }
  return khz * 1e3;
}

std::string name_of(bool on) { return on ? "enabled" : "disabled"; }
std::string name_of(NvmlMode mode) { return name_of(mode.current); }
std::string name_of(const std::string& text) { return text; }

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
  print.toolkit = FATHOM_TOOLKIT_VERSION;
  print.driver = described(nvml.driver_version());
  print.sms = facts.sms;
  print.memory_bytes = static_cast<std::int64_t>(facts.memory_bytes);
  print.l2_bytes = static_cast<std::int64_t>(facts.l2_bytes);
  if (facts.memory_bus_bits > 0) print.memory_bus_bits = facts.memory_bus_bits;
  if (facts.sm_clock_max_hz > 0) print.sm_clock_max_hz = facts.sm_clock_max_hz;
  if (facts.memory_clock_max_hz > 0) print.memory_clock_max_hz = facts.memory_clock_max_hz;

  print.confidential_computing = described(nvml.confidential_computing());
  if (!found) {
    print.vbios = print.ecc = print.mig = print.persistence = print.pcie_link =
        print.virtualization = print.compute_mode = "unknown: " + found.missing();
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

[[noreturn]] void throw_error(const CudaFailure& failure) {
  fail(failure.code, "{}: {}.", failure.cause, failure.remedy);
}

}  // namespace

CudaVersions read_cuda_versions() {
  CudaVersions versions;
  // Neither call needs a driver; without one the driver's version stays 0.
  if (cudaDriverGetVersion(&versions.driver) != cudaSuccess) versions.driver = 0;
  FATHOM_CUDA(cudaRuntimeGetVersion(&versions.runtime));
  return versions;
}

std::string version_text(int cuda_version) {
  return fmt::format("{}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
}

CudaFailure explain_no_gpu(cudaError_t status, const CudaVersions& versions,
                           const NvmlLibrary& nvml) {
  bool mig = false;
  for (unsigned i = 0; i < nvml.device_count().value_or(0); ++i) {
    const auto gpu = nvml.device_by_index(i);
    if (gpu.lost())
      return {ExitCode::gpu_lost, fmt::format("GPU {} cannot be used ({})", i, gpu.missing()),
              "look for Xid lines in the kernel log (dmesg) and restart the machine"};
    if (gpu) mig = mig || gpu->mig().value_or({}).current;
  }
  if (versions.driver == 0 && nvml.available())
    return {ExitCode::no_driver, "The NVIDIA driver is there, but not its library libcuda.so.1",
            "start a container with --gpus all, else install the library (package libcuda1)"};
  if (versions.driver == 0)
    return {ExitCode::no_driver, "There is no NVIDIA driver on this machine",
            "install one (package nvidia-driver), or, in a container, start it with --gpus all"};
  if (status == cudaErrorInsufficientDriver || status == cudaErrorSystemDriverMismatch) {
    const std::string supported = version_text(versions.driver);
    return {ExitCode::driver_too_old,
            fmt::format("The NVIDIA driver {} supports CUDA {}, but this build needs CUDA {}",
                        nvml.driver_version().value_or("of this machine"), supported,
                        version_text(versions.runtime)),
            fmt::format("install a newer driver, or build with the toolkit of CUDA {}", supported)};
  }
  if (status == cudaErrorNoDevice && mig)
    return {ExitCode::partitioned_gpu, "The GPU is in MIG mode and has no instance to run on",
            "create one (nvidia-smi mig -cgi 0 -C), or switch MIG off (nvidia-smi -mig 0)"};
  if (status == cudaErrorNoDevice)
    return {ExitCode::no_driver, "The NVIDIA driver is there, but CUDA finds no GPU",
            "see that nvidia-smi lists one and CUDA_VISIBLE_DEVICES does not hide it, and start a "
            "container with --gpus all"};
  CudaFailure failure = explain_cuda_error(status);
  failure.cause = "CUDA cannot start: " + failure.cause;
  return failure;
}

CudaDeviceCount count_cuda_devices() {
  CudaDeviceCount devices;
  devices.status = cudaGetDeviceCount(&devices.count);
  if (devices.status == cudaSuccess && devices.count == 0) devices.status = cudaErrorNoDevice;
  if (devices.status == cudaSuccess) return devices;
  cudaGetLastError();  // it is reported by this return and must not surface in a later check
  return {0, devices.status};
}

CudaDevice read_cuda_device(int ordinal, const NvmlLibrary& nvml) {
  const auto [count, status] = count_cuda_devices();
  if (count == 0) throw_error(explain_no_gpu(status, read_cuda_versions(), nvml));
  if (ordinal < 0 || ordinal >= count)
    fail(ExitCode::bad_input, "There is no GPU {}: choose one from 0 to {}.", ordinal, count - 1);
  cudaDeviceProp properties{};
  FATHOM_CUDA(cudaGetDeviceProperties(&properties, ordinal));
  std::array<char, 32> bus_id{};
  FATHOM_CUDA(cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), ordinal));

  CudaDevice device;
  device.ordinal = ordinal;
  device.name = properties.name;
  device.pci_bus_id = bus_id.data();
  std::ranges::copy(properties.uuid.bytes, device.uuid.begin());
  device.major = properties.major;
  device.minor = properties.minor;
  device.sms = properties.multiProcessorCount;
  device.memory_bytes = properties.totalGlobalMem;
  device.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  device.shared_bytes_per_sm = properties.sharedMemPerMultiprocessor;
  device.shared_bytes_per_block_max = properties.sharedMemPerBlockOptin;
  device.reserved_shared_bytes_per_block = properties.reservedSharedMemPerBlock;
  device.registers_per_sm = properties.regsPerMultiprocessor;
  device.threads_per_sm = properties.maxThreadsPerMultiProcessor;
  device.blocks_per_sm = properties.maxBlocksPerMultiProcessor;
  device.memory_bus_bits = properties.memoryBusWidth;
  device.sm_clock_max_hz = clock_hz(cudaDevAttrClockRate, ordinal);
  device.memory_clock_max_hz = clock_hz(cudaDevAttrMemoryClockRate, ordinal);
  return device;
}

DeviceFacts assemble_device_facts(const CudaDevice& cuda, const NvmlLibrary& nvml,
                                  bool beside_siblings) {
  const Reading<NvmlDevice> gpu = nvml.device_by_pci_bus_id(cuda.pci_bus_id);
  if (gpu.lost())
    fail(ExitCode::gpu_lost,
         "GPU {} cannot be used ({}): look for Xid lines in the kernel log "
         "(dmesg) and restart the machine.",
         cuda.ordinal, gpu.missing());
  DeviceFacts facts;
  static_cast<CudaDevice&>(facts) = cuda;
  // The higher of the two sources: a bound must hold whatever clock the GPU can reach.
  const auto nvml_clock = [&gpu](NvmlClock which) {
    return gpu ? gpu->clock_hz(which, NvmlClockKind::highest).value_or(0) : 0;
  };
  facts.sm_clock_max_hz = std::max(cuda.sm_clock_max_hz, nvml_clock(NvmlClock::sm));
  facts.memory_clock_max_hz = std::max(cuda.memory_clock_max_hz, nvml_clock(NvmlClock::memory));
  facts.fingerprint = fingerprint_of(facts, nvml, gpu);
  add_bounds(facts);
  for (const Check& check : check_gpu(cuda.ordinal, gpu))
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
  // In exclusive mode a second process is refused only when it first uses the GPU: try it now, so
  // that a program ends with a clear sentence before it has begun. After the facts: a context of
  // our own would show among the GPU's processes and memory.
  if (facts.fingerprint.compute_mode != "default") {
    FATHOM_CUDA(cudaSetDevice(ordinal));
    FATHOM_CUDA(cudaFree(nullptr));
  }
  return facts;
}

const DeviceBound& bound(const DeviceFacts& facts, const std::string& name) {
  for (const DeviceBound& candidate : facts.bounds)
    if (candidate.name == name) return candidate;
  throw std::out_of_range(fmt::format("GPU {} has no bound named {}", facts.ordinal, name));
}

std::string uuid_hash(const std::array<unsigned char, 16>& uuid) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a's offset basis and prime for 64 bits
  for (const unsigned char byte : uuid) hash = (hash ^ byte) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

}  // namespace fathom
