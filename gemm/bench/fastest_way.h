#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "harness/probe.h"

namespace fathom::gemm {

/// The fastest of several ways to do a product, by the conditions in which it then meets others:
/// bursts of short launches in rows. Ways that single launches leave in question meet in turn.
/// Products of 20 ms a launch take three seconds, most others less than half of one.
///
/// `works` launches a way, and is false where that cannot do the product; `launch` throws there.
/// Nothing if none works.
std::optional<std::size_t> find_fastest(Context& context, std::size_t ways,
                                        const std::function<bool(std::size_t)>& works,
                                        const std::function<void(std::size_t)>& launch);

/// Indices of the ways that single launches leave in question, fastest first, eight at most: those
/// within half of the lowest time of all and the few microseconds that launches differ by. Ties go
/// to the earlier one. A way that failed has an infinite time.
std::vector<std::size_t> finalists(std::span<const double> lowest_seconds);

}  // namespace fathom::gemm
