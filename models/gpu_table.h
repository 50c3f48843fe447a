#pragma once

#include <array>
#include <span>
#include <string_view>

namespace fathom::models {

/// A figure and the document that states it, or the formula that it is derived by. 0: there is none
/// (the part lacks the unit), and the source says so.
template <typename T>
struct Sourced {
  T value{};
  std::string_view source{};

  constexpr bool known() const { return value > T{}; }
};

/// Facts of a GPU product as its maker publishes them. What a data sheet calls GB is 10^9 bytes for
/// bandwidth and, for capacities, the number printed there times 10^9. Arithmetic peaks are dense
/// (without structured sparsity) and at the clock that the document uses, which a power cap may not
/// allow. Where documents of a part disagree or are silent, the source says what else is known.
struct GpuSpec {
  std::string_view name{};                         ///< "H200"
  std::array<std::string_view, 2> device_names{};  ///< as cudaDeviceProp::name says; may be empty
  int major = 0, minor = 0;  ///< compute capability, NVIDIA's list "CUDA GPU Compute Capability"
  Sourced<int> sms{};
  Sourced<double> boost_clock_hz{};   ///< of the fp32 and fp64 peaks
  Sourced<double> tensor_clock_hz{};  ///< of the tensor peaks
  Sourced<int> memory_bus_bits{};
  Sourced<double> memory_pin_rate{};  ///< bit/s per pin
  Sourced<double> memory_bytes{};
  Sourced<double> memory_bandwidth{};  ///< B/s
  // FLOP/s, or op/s for int8.
  Sourced<double> fp32_flops{};         ///< CUDA cores
  Sourced<double> fp64_flops{};         ///< CUDA cores
  Sourced<double> fp64_tensor_flops{};  ///< tensor cores
  Sourced<double> tf32_flops{};
  Sourced<double> fp16_flops{};  ///< accumulated in fp32, which GeForce does at half of fp16's rate
  Sourced<double> bf16_flops{};  ///< accumulated in fp32
  Sourced<double> fp8_flops{};   ///< accumulated in fp32
  Sourced<double> int8_ops{};
  // To other GPUs and to the host: both directions together, B/s.
  Sourced<double> nvlink_bandwidth{};
  Sourced<double> pcie_bandwidth{};
};

/// A precision: where its peak stands, and the bytes of an element of a product.
struct Precision {
  const char* name;
  Sourced<double> GpuSpec::*peak;
  double input_bytes, output_bytes;
};

/// "fp64" and "fp32" are of the CUDA cores, the others of the tensor cores, accumulated in fp32.
inline constexpr Precision precisions[] = {
    {"fp64", &GpuSpec::fp64_flops, 8, 8}, {"fp64-tensor", &GpuSpec::fp64_tensor_flops, 8, 8},
    {"fp32", &GpuSpec::fp32_flops, 4, 4}, {"tf32", &GpuSpec::tf32_flops, 4, 4},
    {"fp16", &GpuSpec::fp16_flops, 2, 2}, {"bf16", &GpuSpec::bf16_flops, 2, 2},
    {"fp8", &GpuSpec::fp8_flops, 1, 2},   {"int8", &GpuSpec::int8_ops, 1, 4}};

std::span<const GpuSpec> gpu_table();

/// The product that a CUDA device name ("NVIDIA A100-SXM4-80GB") or a short name ("a100 80gb sxm")
/// means, upper or lower case; nullptr for one that the table lacks. "NVIDIA", "Tesla" and
/// "GeForce" in front may be left out; anything else must agree, so that an "RTX 3090 Ti" is no RTX
/// 3090.
const GpuSpec* find_gpu(std::string_view name);

}  // namespace fathom::models
