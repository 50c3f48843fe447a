#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gemm/bench/rung.h"
#include "gemm/bench/verification.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// The variants that one run chose, by rung and product: later rounds take the same one.
using TunedChoices = std::map<std::pair<std::string, std::string>, std::size_t>;

/// Holds every variant of a rung at one product against the reference, and gives the index of the
/// fastest; one that is not clearly faster is not preferred to the first. Throws
/// Error(check_failed) where a variant's product is wrong.
std::size_t autotune(Context& context, const Rung& rung, const std::vector<RungPlan>& variants,
                     const Operands& operands, const Workspace& workspace);

/// By more than two runs of the same kernel may differ.
bool clearly_faster(double seconds, double default_seconds);

}  // namespace fathom::gemm
