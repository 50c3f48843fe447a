#include "models/roofline.h"

#include <algorithm>
#include <cmath>

#include "models/formatted.h"

namespace fathom::models {
namespace {

// Written so that NaN fails it.
void require_amount(const std::string& what, double value, bool may_be_0 = false) {
  if (!(may_be_0 ? value >= 0 : value > 0) || !std::isfinite(value))
    refuse("%s must be a finite number %s, not %g", what.c_str(),
           may_be_0 ? "from 0 on" : "above 0", value);
}

void validate(const MatrixProduct& p) {
  for (const double value : {p.m, p.n, p.k, p.input_bytes, p.output_bytes})
    require_amount("a size of a matrix product", value);
}

}  // namespace

double ridge_point(const MemoryWork& memory, const ArithmeticWork& arithmetic) {
  require_amount("the ceiling " + memory.name, memory.bytes_per_second);
  require_amount("the ceiling " + arithmetic.name, arithmetic.flops_per_second);
  return arithmetic.flops_per_second / memory.bytes_per_second;
}

Roofline roofline(const std::vector<MemoryWork>& memory, const ArithmeticWork& arithmetic) {
  const auto& [unit, peak, flops] = arithmetic;
  require_amount("the ceiling " + unit, peak);
  require_amount("a kernel's number of FLOPs", flops, true);
  if (flops == 0 && std::ranges::all_of(memory, [](auto& level) { return level.bytes == 0; }))
    refuse("a kernel that moves no byte and computes nothing has no roofline");
  Roofline result{
      .levels = {}, .compute_seconds = flops / peak, .seconds = flops / peak, .bound_by = unit};
  for (const auto& [name, bandwidth, bytes] : memory) {
    require_amount("the ceiling " + name, bandwidth);
    require_amount("a kernel's bytes through " + name, bytes, true);
    RooflineLevel level{
        .name = name, .bytes = bytes, .attainable = peak, .seconds = bytes / bandwidth};
    if (bytes > 0) {
      level.intensity = flops / bytes;
      level.attainable = std::min(peak, *level.intensity * bandwidth);
    }
    if (level.seconds > result.seconds) {
      result.seconds = level.seconds;
      result.bound_by = name;
      result.memory_bound = true;
    }
    result.levels.push_back(std::move(level));
  }
  result.attainable = flops / result.seconds;
  return result;
}

double matrix_product_flops(const MatrixProduct& product) {
  validate(product);
  return 2 * product.m * product.n * product.k;
}

double matrix_product_bytes(const MatrixProduct& product) {
  validate(product);
  return (product.m * product.k + product.k * product.n) * product.input_bytes +
         product.m * product.n * product.output_bytes;
}

}  // namespace fathom::models
