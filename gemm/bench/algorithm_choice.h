#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gemm/bench/opponents.h"
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

/// Indices of the algorithms that single launches leave in question: those whose lowest time is
/// within half of the lowest of all, and the few microseconds that single launches differ by. Of
/// two dozen most are several times slower than the fastest.
std::vector<std::size_t> finalists(std::span<const std::vector<double>> seconds_of_algorithm);

/// Indices of the algorithms with the lowest median times, so many at most, in the heuristic's
/// order.
std::vector<std::size_t> fastest_few(std::span<const std::vector<double>> seconds_of_algorithm,
                                     std::size_t most);

/// Index of the algorithm to take: the one with the lowest median time; ties go to the earlier one,
/// which the heuristic thinks better of. An algorithm that failed has no times. Nothing if all did.
std::optional<std::size_t> fastest(std::span<const std::vector<double>> seconds_of_algorithm);

/// What an opponent's note says of a choice that took longer in its final than the library's
/// default, by more than such short runs differ by; empty of another.
std::string slower_than_default(double chosen_s, double default_s);

}  // namespace fathom::gemm
