#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/probe.h"

namespace fathom::gemm {

/// The fastest of several ways to do a product, and the seconds of a launch in the last round; 0
/// where it was the only one.
struct FastestWay {
  std::size_t index = 0;
  double seconds = 0, default_seconds = 0;
};

/// Finds it under the conditions in which it is then held against others: in bursts, short launches
/// in rows. The ways that are not out of the question meet in turn, then the fastest few once more,
/// and with them what is taken by default, so that the choice can say that it is slower. Of
/// products of 20 ms a launch that is some four seconds, of most a tenth of one.
///
/// `works` launches a way, and is false where it cannot do the product; `launch` throws there.
/// `by_default` may be empty. Nothing if none works.
std::optional<FastestWay> find_fastest(Context& context, std::size_t ways,
                                       const std::function<bool(std::size_t)>& works,
                                       const std::function<void(std::size_t)>& launch,
                                       const std::function<void()>& by_default);

/// One of several ways, and what else is to be said of it, in words.
struct Choice {
  std::size_t index = 0;
  std::string remark{};
};
/// What one run has chosen, by whose ways they are and for which product: each is tried once, so
/// that later rounds take the same way and all rungs meet the same opponent.
using Choices = std::map<std::string, Choice>;

/// Indices of the ways that single launches leave in question: those whose lowest time is within
/// half of the lowest of all, and the few microseconds that single launches differ by. Most of
/// two dozen are several times slower than the fastest.
std::vector<std::size_t> finalists(std::span<const std::vector<double>> seconds_of_way);

/// Indices of the ways with the lowest median times, so many at most, in their order; ties go to
/// the earlier one. A way that failed has no times.
std::vector<std::size_t> fastest_few(std::span<const std::vector<double>> seconds_of_way,
                                     std::size_t most);

/// By more than two runs of the same kernel may differ.
bool clearly_faster(double seconds, double default_seconds);

/// What is said of a choice that took longer in its final than the library's default, by more than
/// such short runs differ by; empty of another, or where there is no default (0 s).
std::string slower_than_default(double chosen_s, double default_s);

}  // namespace fathom::gemm
