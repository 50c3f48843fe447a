#include "harness/cuda_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "harness/cuda_check.h"
#include "results/fail.h"

namespace fathom {
namespace {

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  FATHOM_CUDA(cudaDeviceGetAttribute(&value, which, ordinal));
  return value;
}

/// A clock in kilohertz, or 0 where the runtime no longer tells: NVML is asked instead.
double clock_hz(cudaDeviceAttr which, int ordinal) {
  int khz = 0;
  if (cudaDeviceGetAttribute(&khz, which, ordinal) != cudaSuccess) {
    cudaGetLastError();  // so that the next check does not see this failure
    return 0;
  }
  return khz * 1e3;
}

/// The oldest driver branch that runs programs of this CUDA major version (release notes, table of
/// minor version compatibility).
std::string needed_driver(int runtime) {
  const int major = runtime / 1000;
  return major == 12   ? "525.60.13"
         : major == 13 ? "580"
                       : fmt::format("the one of CUDA {}", version_text(runtime));
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

std::string toolkit_version() { return FATHOM_TOOLKIT_VERSION; }

std::string build_architectures() { return FATHOM_BUILD_ARCHITECTURES; }

bool architectures_run_on(std::string_view architectures, int major, int minor) {
  const int have = major * 10 + minor;
  while (!architectures.empty()) {
    const std::size_t end = std::min(architectures.find_first_of(", ;"), architectures.size());
    std::string_view item = architectures.substr(0, end);
    architectures.remove_prefix(std::min(end + 1, architectures.size()));
    int built = 0;
    const auto parsed = std::from_chars(item.data(), item.data() + item.size(), built);
    if (parsed.ec != std::errc()) continue;
    item.remove_prefix(static_cast<std::size_t>(parsed.ptr - item.data()));
    // "90a" is for 9.0 alone, "100f" for its family; plain machine code for later minor versions
    // of the same major one, and plain PTX for everything later.
    const bool specific = item.starts_with('a');
    const bool family = item.starts_with('f');
    const bool has_ptx = !item.ends_with("-real");
    if (specific ? have == built : have >= built && have / 10 == built / 10) return true;
    if (has_ptx && !specific && !family && have >= built) return true;
  }
  return false;
}

Surroundings read_surroundings() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return {read_cuda_versions(), access("/proc/driver/nvidia", F_OK) == 0,
          visible ? std::optional<std::string>(visible) : std::nullopt};
}

NoGpu explain_no_gpu(cudaError_t status, const Surroundings& around, const NvmlLibrary& nvml) {
  const unsigned nvml_devices = nvml.device_count().value_or(0);
  bool mig = false;
  for (unsigned i = 0; i < nvml_devices; ++i) {
    const auto gpu = nvml.device_by_index(i);
    if (gpu.status == NvmlStatus::gpu_is_lost || gpu.status == NvmlStatus::reset_required)
      return {ExitCode::gpu_lost,
              fmt::format("GPU {} cannot be used ({})", i, to_string(gpu.status)),
              "look for Xid lines in the kernel log (dmesg) and restart the machine"};
    if (gpu) mig = mig || gpu->mig().value_or({}).current;
  }
  if (around.versions.driver == 0 && (around.kernel_driver_loaded || nvml.available()))
    return {ExitCode::no_driver,
            "The NVIDIA kernel driver is loaded, but its library libcuda.so.1 is not to be found",
            "in a container, start it with --gpus all; else install the driver's CUDA library "
            "(package libcuda1)"};
  if (around.versions.driver == 0)
    return {ExitCode::no_driver, "There is no NVIDIA driver on this machine",
            "install one (package nvidia-driver), or, in a container, start it with --gpus all"};
  if (status == cudaErrorInsufficientDriver || status == cudaErrorSystemDriverMismatch) {
    const auto driver = nvml.driver_version();
    const std::string supported = version_text(around.versions.driver);
    return {
        ExitCode::driver_too_old,
        fmt::format("The NVIDIA driver{} supports CUDA {}, but this build needs CUDA {}",
                    driver ? " " + *driver : "", supported, version_text(around.versions.runtime)),
        fmt::format("install driver {} or newer, or build with the toolkit of CUDA {}",
                    needed_driver(around.versions.runtime), supported)};
  }
  if (status == cudaErrorNoDevice && nvml_devices > 0 && around.visible_devices)
    return {ExitCode::no_driver,
            fmt::format("CUDA_VISIBLE_DEVICES=\"{}\" hides every GPU of this machine",
                        *around.visible_devices),
            "unset it, or name a GPU that exists"};
  if (status == cudaErrorNoDevice && mig)
    return {ExitCode::partitioned_gpu, "The GPU is in MIG mode and has no instance to run on",
            "create one (nvidia-smi mig -cgi 0 -C), or switch MIG off (nvidia-smi -mig 0)"};
  if (status == cudaErrorNoDevice)
    return {ExitCode::no_driver, "The NVIDIA driver is there, but CUDA finds no GPU",
            "see whether nvidia-smi lists one, and start a container with --gpus all"};
  const CudaFailure failure = explain_cuda_error(status);
  return {failure.code,
          fmt::format("CUDA cannot start ({}, {})", cudaGetErrorName(status),
                      cudaGetErrorString(status)),
          failure.remedy};
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
  if (count == 0) throw explain_no_gpu(status, read_surroundings(), nvml).error();
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
  for (std::size_t i = 0; i < device.uuid.size(); ++i)
    device.uuid[i] = static_cast<unsigned char>(properties.uuid.bytes[i]);
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
  device.blocks_per_sm = attribute(cudaDevAttrMaxBlocksPerMultiprocessor, ordinal);
  device.memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal);
  device.sm_clock_max_hz = clock_hz(cudaDevAttrClockRate, ordinal);
  device.memory_clock_max_hz = clock_hz(cudaDevAttrMemoryClockRate, ordinal);
  return device;
}

std::string uuid_hash(const std::array<unsigned char, 16>& uuid) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a's offset basis and prime for 64 bits
  for (const unsigned char byte : uuid) {
    hash ^= byte;
    hash *= 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace fathom
