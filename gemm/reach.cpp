#include "gemm/reach.h"

#include "gemm/peak.h"

namespace fathom::gemm {
namespace {

/// Eight classes keep their largest matrices, C once more for the library; most of them have
/// smaller elements.
constexpr double share_of_memory = 1.0 / 12;

}  // namespace

bool within_reach(const DeviceFacts& device, const Problem& problem, double longest_s) {
  const auto memory = static_cast<double>(device.memory_bytes);
  if (memory > 0 && problem.minimum_bytes() > share_of_memory * memory) return false;
  const auto peak = arithmetic_peak(device, problem.of);
  return !peak || problem.flops() <= longest_s * peak->value;
}

}  // namespace fathom::gemm
