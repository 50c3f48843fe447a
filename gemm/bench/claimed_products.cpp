#include "gemm/bench/claimed_products.h"

#include <string>

#include "models/gpu_table.h"

namespace fathom::gemm {

std::optional<Problem> claimed_product(const Rung& rung) {
  constexpr std::int64_t size = 8192;
  if (rung.of != Class::fp16 || !rung.answers("G6"))
    return std::nullopt;
  return make_problem(rung.of, size, size, size, Transpose::no, Transpose::no, 0.5, 0.5);
}

std::optional<double> published_peak(const std::string& device, Class of) {
  const models::GpuSpec* gpu = models::find_gpu(device);
  if (gpu == nullptr) return std::nullopt;
  const auto of_class = [&]() -> models::Sourced<double> {
    switch (of) {
      case Class::fp16: return gpu->fp16_flops;
      case Class::bf16: return gpu->bf16_flops;
      case Class::tf32: return gpu->tf32_flops;
      case Class::fp8: return gpu->fp8_flops;
      case Class::int8: return gpu->int8_ops;
      default: return {};
    }
  }();
  if (!of_class.known()) return std::nullopt;
  return of_class.value;
}

}  // namespace fathom::gemm
