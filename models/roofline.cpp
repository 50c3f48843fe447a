#include "models/roofline.h"

#include <algorithm>
#include <cmath>

#include "models/formatted.h"

namespace fathom::models {
namespace {

// Written so that NaN fails it.
bool is_amount(double value) { return value >= 0 && std::isfinite(value); }

void require_ceiling(const std::string& name, double value, const char* unit) {
  if (!is_positive(value))
    refuse("the ceiling %s must be a positive number of %s, not %g", name.c_str(), unit, value);
}

double bytes_through(const RooflineKernel& kernel, const std::string& level) {
  double bytes = 0;
  for (const LevelTraffic& traffic : kernel.traffic)
    if (traffic.level == level) bytes += traffic.bytes;
  return bytes;
}

void validate(const std::vector<MemoryCeiling>& memory, const ComputeCeiling& compute,
              const RooflineKernel& kernel) {
  require_ceiling(compute.name, compute.flops_per_second, "FLOP/s");
  for (const MemoryCeiling& level : memory)
    require_ceiling(level.name, level.bytes_per_second, "bytes a second");
  bool works = kernel.flops > 0;
  if (!is_amount(kernel.flops))
    refuse("a kernel's FLOPs must be 0 or more and finite, not %g", kernel.flops);
  for (const LevelTraffic& traffic : kernel.traffic) {
    if (!is_amount(traffic.bytes))
      refuse("a kernel's bytes through %s must be 0 or more and finite, not %g",
             traffic.level.c_str(), traffic.bytes);
    const bool known = std::ranges::any_of(
        memory, [&](const MemoryCeiling& level) { return level.name == traffic.level; });
    if (!known)
      refuse("the kernel moves bytes through %s, for which there is no ceiling",
             traffic.level.c_str());
    works = works || traffic.bytes > 0;
  }
  if (!works) refuse("a kernel that moves no byte and computes nothing has no roofline");
}

void validate(const MatrixProduct& p) {
  for (const double value : {p.m, p.n, p.k, p.input_bytes, p.output_bytes}) {
    if (!is_positive(value))
      refuse("the sizes of a matrix product must be positive, not %g", value);
  }
}

}  // namespace

double ridge_point(const MemoryCeiling& memory, const ComputeCeiling& compute) {
  require_ceiling(memory.name, memory.bytes_per_second, "bytes a second");
  require_ceiling(compute.name, compute.flops_per_second, "FLOP/s");
  return compute.flops_per_second / memory.bytes_per_second;
}

Roofline roofline(const std::vector<MemoryCeiling>& memory, const ComputeCeiling& compute,
                  const RooflineKernel& kernel) {
  validate(memory, compute, kernel);
  Roofline result;
  result.compute_seconds = kernel.flops / compute.flops_per_second;
  result.seconds = result.compute_seconds;
  result.bound_by = compute.name;
  for (const MemoryCeiling& ceiling : memory) {
    RooflineLevel level{.name = ceiling.name, .bytes = bytes_through(kernel, ceiling.name)};
    level.ridge = ridge_point(ceiling, compute);
    level.seconds = level.bytes / ceiling.bytes_per_second;
    level.attainable = compute.flops_per_second;
    if (level.bytes > 0) {
      level.intensity = kernel.flops / level.bytes;
      level.attainable =
          std::min(compute.flops_per_second, *level.intensity * ceiling.bytes_per_second);
    }
    if (level.seconds > result.seconds) {
      result.seconds = level.seconds;
      result.bound_by = level.name;
      result.memory_bound = true;
    }
    result.levels.push_back(std::move(level));
  }
  result.attainable = kernel.flops / result.seconds;
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
