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

double bytes_through(const RooflineKernel& kernel, const std::string& level) {
  double bytes = 0;
  for (const LevelTraffic& traffic : kernel.traffic)
    if (traffic.level == level) bytes += traffic.bytes;
  return bytes;
}

void validate(const std::vector<MemoryCeiling>& memory, const ComputeCeiling& compute,
              const RooflineKernel& kernel) {
  require_amount("the ceiling " + compute.name, compute.flops_per_second);
  require_amount("a kernel's number of FLOPs", kernel.flops, true);
  bool works = kernel.flops > 0;
  for (const auto& [level, bytes] : kernel.traffic) {
    require_amount("a kernel's bytes through " + level, bytes, true);
    if (std::ranges::find(memory, level, &MemoryCeiling::name) == memory.end())
      refuse("the kernel moves bytes through %s, for which there is no ceiling", level.c_str());
    works = works || bytes > 0;
  }
  if (!works) refuse("a kernel that moves no byte and computes nothing has no roofline");
}

void validate(const MatrixProduct& p) {
  for (const double value : {p.m, p.n, p.k, p.input_bytes, p.output_bytes})
    require_amount("a size of a matrix product", value);
}

}  // namespace

double ridge_point(const MemoryCeiling& memory, const ComputeCeiling& compute) {
  require_amount("the ceiling " + memory.name, memory.bytes_per_second);
  require_amount("the ceiling " + compute.name, compute.flops_per_second);
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
