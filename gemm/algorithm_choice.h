#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "gemm/opponents.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// The fastest of the library's algorithms for a product, under the conditions in which it is then
/// held against a rung: in bursts, short launches in rows. Those that are not out of the question
/// meet in turn, then the fastest few once more, and the library's default call with them, so that
/// the choice can say that it is slower. Of products of 20 ms a launch that is some four seconds,
/// of most a tenth of one.
///
/// `works` launches an algorithm, and is false where it cannot do the product; `launch` throws
/// there. `by_default` may be empty. Nothing if none works.
std::optional<AlgorithmChoice> choose_algorithm(Context& context, std::size_t algorithms,
                                                const std::function<bool(std::size_t)>& works,
                                                const std::function<void(std::size_t)>& launch,
                                                const std::function<void()>& by_default);

}  // namespace fathom::gemm
