#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace fathom::models {

/// Facts of a GPU product as its maker publishes them. What a data sheet calls GB is 10^9 bytes for
/// bandwidth and, for capacities, the number printed there times 10^9. Arithmetic peaks are dense
/// and at the clock the data sheet uses, which a power cap may not allow.
struct GpuSpec {
  std::string_view name;                         ///< "H200"
  std::array<std::string_view, 2> device_names;  ///< as cudaDeviceProp::name says; may be empty
  int major, minor;                              ///< compute capability
  int sms;
  double boost_clock_hz;
  std::string_view memory_type;
  int memory_bus_bits;
  double memory_bytes;
  double memory_bandwidth;  ///< B/s
  std::uint64_t l2_bytes;
  double tdp_w;
  double fp32_flops;         ///< CUDA cores
  double fp64_flops;         ///< CUDA cores, not tensor cores
  double fp16_tensor_flops;  ///< dense, fp32 accumulation (half of fp16's on GeForce)
  std::string_view source;
};

std::span<const GpuSpec> gpu_table();

/// The product that a CUDA device name ("NVIDIA A100-SXM4-80GB") or a short name ("a100 80gb sxm")
/// means, upper or lower case; nullptr for one that the table lacks. "NVIDIA", "Tesla" and
/// "GeForce" in front may be left out; anything else must agree, so that an "RTX 3090 Ti" is no RTX
/// 3090.
const GpuSpec* find_gpu(std::string_view name);

}  // namespace fathom::models
