#pragma once

#include <cstdint>
#include <vector>

#include "gemm/bench/rung.h"

// Products for the tests of rungs whose operands come by TMA.

namespace fathom::test {

struct Shape {
  std::int64_t m, n, k;
};

inline constexpr gemm::Transpose both[] = {gemm::Transpose::no, gemm::Transpose::yes};

/// k with a part of a stage, which is 128 bytes, more than so many stages; on 16 bytes.
inline std::int64_t more_than(int stages, gemm::Class of) {
  return (128 * stages + 32) / gemm::element_bytes(gemm::traits(of).input);
}

/// A product in all transpositions.
inline std::vector<gemm::Problem> layouts(gemm::Class of, std::int64_t m, std::int64_t n,
                                          std::int64_t k) {
  std::vector<gemm::Problem> all;
  for (const gemm::Transpose a : both) {
    for (const gemm::Transpose b : both) all.push_back(gemm::make_problem(of, m, n, k, a, b));
  }
  return all;
}

/// A problem that only some rungs are for: one that a rung's own kernel takes as it is, and one for
/// the narrow tiles, which contenders and, before the small tiles of the last, 15 of 16-bit types
/// use for all.
struct Task {
  gemm::Problem problem;
  bool own_path = false, contenders = false;
  bool is_for(const gemm::Rung& rung) const {
    return (!own_path || rung.takes_own_path(problem)) &&
           (!contenders || rung.contender || rung.id().ends_with("15_deferred_stores"));
  }
};

}  // namespace fathom::test
