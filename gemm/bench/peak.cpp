#include "gemm/bench/peak.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/instruction_throughput.h"

namespace fathom::gemm {
namespace {

/// Multiply-adds of one SM in a clock, and what does them.
struct Rate {
  double fma = 0;
  const char* units = "";
};

std::optional<Rate> tensor_rate(models::TensorType type, const DeviceFacts& device) {
  const auto fma = models::tensor_fma_per_clock(type, device.major, device.minor);
  if (!fma) return std::nullopt;
  return Rate{*fma, "tensor cores"};
}

std::optional<Rate> native_rate(models::NativeOperation operation, const DeviceFacts& device) {
  const auto fma = models::native_throughput(operation, device.major, device.minor);
  if (!fma) return std::nullopt;
  return Rate{*fma, "FMA units"};
}

std::optional<Rate> rate_of(Class of, const DeviceFacts& device) {
  using models::TensorType;
  switch (of) {
    case Class::fp32:
      return native_rate(models::NativeOperation::f32_arithmetic, device);
    case Class::fp64: {
      const auto native = native_rate(models::NativeOperation::f64_arithmetic, device);
      const auto tensor = tensor_rate(TensorType::f64, device);
      return tensor && (!native || tensor->fma >= native->fma) ? tensor : native;
    }
    case Class::fp32_3xtf32: {
      auto rate = tensor_rate(TensorType::tf32, device);
      if (rate) *rate = {rate->fma / 3, "tensor cores, tf32 / 3"};
      return rate;
    }
    case Class::tf32:
      return tensor_rate(TensorType::tf32, device);
    case Class::fp16:
      return tensor_rate(TensorType::f16, device);
    case Class::bf16:
      return tensor_rate(TensorType::bf16, device);
    case Class::fp8:
      return tensor_rate(TensorType::fp8, device);
    case Class::int8:
      return tensor_rate(TensorType::s8, device);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Bound> arithmetic_peak(const DeviceFacts& device, Class of) {
  const auto rate = rate_of(of, device);
  if (!rate || device.sms <= 0 || device.sm_clock_max_hz <= 0) return std::nullopt;
  Bound bound;
  bound.value = 2 * rate->fma * device.sms * device.sm_clock_max_hz;
  bound.source = fmt::format("{} SMs x {:g} FMA of {} x 2 x {:.0f} MHz", device.sms, rate->fma,
                             rate->units, device.sm_clock_max_hz * 1e-6);
  bound.clock_hz = device.sm_clock_max_hz;
  return bound;
}

bool within_reach(const DeviceFacts& device, const Problem& problem, double longest_s) {
  // Eight classes keep their largest matrices, C once more for the library; most of them have
  // smaller elements.
  constexpr double share_of_memory = 1.0 / 12;
  const auto memory = static_cast<double>(device.memory_bytes);
  if (memory > 0 && problem.minimum_bytes() > share_of_memory * memory) return false;
  const auto peak = arithmetic_peak(device, problem.of);
  return !peak || problem.flops() <= longest_s * peak->value;
}

}  // namespace fathom::gemm
