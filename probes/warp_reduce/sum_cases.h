#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases.h"
#include "probes/warp_reduce/sum_kernels.h"
#include "probes/warp_reduce/warp_stage_kernels.h"

namespace fathom::warp_reduce {

/// Sums of a whole array, and the copy that they are held against: claim R1.
std::vector<Case> sum_cases(const DeviceFacts& device);

/// Clocks of one warp's reduction: claim R2.
std::vector<Case> warp_stage_cases(const DeviceFacts& device);

/// How far a sum of `elements` random values in [-1, 1) may be from the exact one, as an absolute
/// error. Such values have a variance of 1/3, so that a partial sum of m of them is of the size
/// sqrt(m / 3); an addition errs by at most u times its result, u = 2^-24 for float and 2^-53 for
/// double; and roundings behave as if independent, so that their squares add up (Higham and Mary,
/// "A new approach to probabilistic rounding error analysis", 2019). Added over a thread's
/// elements, a block's threads and the grid's blocks one after the other:
///   variance <= u^2 * elements / 3 * (elements per thread + threads per block + blocks)
/// The tolerance is ten times its root. It is far below what one missing tile would change; a
/// single missing element of a large sum is for the integers to show, whose sums are exact.
double sum_tolerance(Element element, double elements, double threads_per_block, double blocks);

/// What the check saw last.
struct SumError {
  double absolute = 0;
  double tolerance = 0;
};

/// A workload's `verify`: compares one accumulator at `result` with an fp64 sum of the same data by
/// an independent kernel; integers must be equal modulo 2^32. Leaves the error in `*error`.
std::function<std::optional<std::string>()> check_sum(Context& context, Element element,
                                                      const std::byte* source, std::size_t elements,
                                                      const std::byte* result, double tolerance,
                                                      std::shared_ptr<SumError> error);

}  // namespace fathom::warp_reduce
