#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

class NvmlLibrary;

/// What the CUDA runtime says about one GPU, without creating a context on it. Plain data, so that
/// everything that is concluded from it can be tested without a GPU. Clocks in hertz, sizes in
/// bytes.
struct CudaDevice {
  int ordinal = 0;
  std::string name;
  std::string pci_bus_id;
  std::array<unsigned char, 16> uuid{};
  int major = 0, minor = 0;  ///< compute capability
  int sms = 0;
  std::size_t memory_bytes = 0, l2_bytes = 0;
  std::size_t shared_bytes_per_sm = 0;         ///< including what the driver reserves
  std::size_t shared_bytes_per_block_max = 0;  ///< opt-in maximum
  std::size_t reserved_shared_bytes_per_block = 0;
  int registers_per_sm = 0, threads_per_sm = 0, blocks_per_sm = 0;
  int memory_bus_bits = 0;  ///< those in use: 6016 on an H200, whose interface has 6144
  double sm_clock_max_hz = 0;
  double memory_clock_max_hz = 0;  ///< command clock: data moves on both edges
};

/// Throws Error: that of `explain_no_gpu` without a GPU, bad_input for one that does not exist.
CudaDevice read_cuda_device(int ordinal, const NvmlLibrary& nvml);

/// What the driver and NVML say about one GPU, read once at the start of a program.
struct DeviceFacts : CudaDevice {
  Fingerprint fingerprint;
  std::vector<DeviceBound> bounds;    ///< dram_bandwidth, shared_bandwidth, l1_bandwidth, fp32_fma
  std::vector<std::string> warnings;  ///< e.g. other processes on the GPU, throttling at idle
};

/// `beside_siblings`: others of its kind may be started on the same GPU together with this program,
/// and are no disturbance: no warning of processes and memory. Throws Error: no driver, driver too
/// old, GPU busy (exclusive mode), GPU lost, or an ordinal that does not exist.
DeviceFacts query_device_facts(int ordinal, bool beside_siblings = false);

/// `query_device_facts` from readings that were taken already. Throws Error(gpu_lost).
DeviceFacts assemble_device_facts(const CudaDevice& cuda, const NvmlLibrary& nvml,
                                  bool beside_siblings = false);

/// Named bound of `facts`, e.g. "dram_bandwidth"; throws std::out_of_range for an unknown name.
const DeviceBound& bound(const DeviceFacts& facts, const std::string& name);

/// Versions as CUDA counts them: 1000 x major + 10 x minor; a driver of 0 is not there at all.
struct CudaVersions {
  int driver = 0;
  int runtime = 0;
};
CudaVersions read_cuda_versions();
/// 13000 -> "13.0".
std::string version_text(int cuda_version);

/// FNV-1a, 64 bits, in hex, of the GPU's UUID: tells two GPUs apart without publishing the UUID.
std::string uuid_hash(const std::array<unsigned char, 16>& uuid);

}  // namespace fathom
