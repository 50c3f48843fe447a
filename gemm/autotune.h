#pragma once

#include "gemm/rung.h"
#include "gemm/tuning_file.h"
#include "gemm/verification.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// Times every variant of a rung at one product, alternately, after holding each against the reference, and
/// says which is fastest. One that is not faster than the default, the first, by more than `worth_it` is not
/// preferred to it. Throws Error(check_failed) where a variant's product is wrong.
TunedChoice autotune(Context& context, const Rung& rung, const std::vector<Variant>& variants,
                     const Operands& operands, const Workspace& workspace);

/// Relative: what two runs of the same kernel may differ by.
inline constexpr double worth_it = 0.005;

/// Index of the variant to take, by the median seconds of each; the first is the default.
std::size_t choose_variant(const std::vector<double>& median_seconds);

}  // namespace fathom::gemm
