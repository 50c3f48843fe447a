#include "gemm/bench/shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/gpu_table.h"
#include "models/instruction_throughput.h"

namespace fathom::gemm {
namespace {

/// What multiplies a class, FMA units, tensor cores or the faster, and the published peak.
struct Units {
  Class of;
  std::optional<models::NativeOperation> fma{};
  std::optional<models::TensorType> tensor{};
  models::Sourced<double> models::GpuSpec::*published = nullptr;
};
using models::GpuSpec, models::NativeOperation, models::TensorType;
constexpr Units units[] = {{Class::fp32, NativeOperation::f32_arithmetic},
                           {Class::fp64, NativeOperation::f64_arithmetic, TensorType::f64},
                           {Class::fp32_3xtf32, {}, TensorType::tf32},
                           {Class::tf32, {}, TensorType::tf32, &GpuSpec::tf32_flops},
                           {Class::fp16, {}, TensorType::f16, &GpuSpec::fp16_flops},
                           {Class::bf16, {}, TensorType::bf16, &GpuSpec::bf16_flops},
                           {Class::fp8, {}, TensorType::fp8, &GpuSpec::fp8_flops},
                           {Class::int8, {}, TensorType::s8, &GpuSpec::int8_ops}};

const Units& units_of(Class of) { return *std::ranges::find(units, of, &Units::of); }

}  // namespace

Problem contested_problem(Class of, const Shape& shape) {
  const bool along_k = of == Class::fp8 || of == Class::int8;
  return make_problem(of, shape.m, shape.n, shape.k, along_k ? Transpose::yes : Transpose::no);
}

std::vector<Problem> other_layouts(const Problem& problem) {
  const Problem& p = problem;
  std::vector<Problem> found;
  for (const Transpose a : {Transpose::no, Transpose::yes}) {
    for (const Transpose b : {Transpose::no, Transpose::yes}) {
      if (a == p.transa && b == p.transb) continue;
      found.push_back(make_problem(p.of, p.m, p.n, p.k, a, b, p.alpha, p.beta));
    }
  }
  return found;
}

std::optional<Bound> arithmetic_peak(const DeviceFacts& device, Class of) {
  const Units& u = units_of(of);
  const double native =
      u.fma ? models::native_throughput(*u.fma, device.major, device.minor).value_or(0) : 0;
  const double tensor =
      u.tensor ? models::tensor_fma_per_clock(*u.tensor, device.major, device.minor).value_or(0)
               : 0;
  // Multiply-adds of one SM in a clock.
  const double rate = std::max(native, tensor) / (of == Class::fp32_3xtf32 ? 3 : 1);
  if (rate <= 0 || device.sms <= 0 || device.sm_clock_max_hz <= 0) return std::nullopt;
  Bound bound;
  bound.value = 2 * rate * device.sms * device.sm_clock_max_hz;
  bound.source =
      fmt::format("{} SMs x {:g} FMA of {}{} x 2 x {:.0f} MHz", device.sms, rate,
                  tensor >= native ? "tensor cores" : "FMA units",
                  of == Class::fp32_3xtf32 ? ", tf32 / 3" : "", device.sm_clock_max_hz * 1e-6);
  bound.clock_hz = device.sm_clock_max_hz;
  return bound;
}

bool within_reach(const DeviceFacts& device, const Problem& problem, double longest_s) {
  // Eight classes keep their largest matrices, most of smaller elements, and C once more.
  constexpr double share_of_memory = 1.0 / 12;
  const auto memory = static_cast<double>(device.memory_bytes);
  if (memory > 0 && problem.minimum_bytes() > share_of_memory * memory) return false;
  const auto peak = arithmetic_peak(device, problem.of);
  return !peak || problem.flops() <= longest_s * peak->value;
}

std::optional<double> published_peak(const std::string& device, Class of) {
  const auto published = units_of(of).published;
  const GpuSpec* gpu = models::find_gpu(device);
  if (gpu == nullptr || published == nullptr || !(gpu->*published).known()) return std::nullopt;
  return (gpu->*published).value;
}

}  // namespace fathom::gemm
