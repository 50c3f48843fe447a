// Rungs 01 to 05 of fp16 and bf16 where their tiles end: chunks of 16 bytes that are partly
// outside, k around a stage and around all of them, in every transposition and with gaps between
// the columns.

#include <catch2/catch_test_macros.hpp>

#include "gemm/rung.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

constexpr Transpose both[] = {Transpose::no, Transpose::yes};

std::vector<const Rung*> lower_rungs(Class of, const DeviceFacts& facts) {
  std::vector<const Rung*> found;
  for (const Rung* rung : rungs_of(of)) {
    const std::string name = rung->id.substr(rung->id.find('/') + 1);
    if (name < "06" && runs_on(*rung, facts.major, facts.minor)) found.push_back(rung);
  }
  return found;
}

/// Columns on 16 bytes, so that the rung's own kernel takes sizes that end within a chunk.
Problem with_gaps(Class of, std::int64_t m, std::int64_t n, std::int64_t k, Transpose a,
                  Transpose b) {
  Problem p = make_problem(of, m, n, k, a, b);
  p.lda = (p.lda + 7) / 8 * 8 + 8;
  p.ldb = (p.ldb + 7) / 8 * 8 + 8;
  return p;
}

void check_class(Class of) {
  test::RungBench bench;
  const auto rungs = lower_rungs(of, bench.facts);
  REQUIRE(rungs.size() >= 1);
  for (const Rung* rung : rungs) {
    for (const Transpose a : both) {
      for (const Transpose b : both) {
        // A tile is 256 x 128 of BLAS's m x n; 32 of k are a stage, of which there are four.
        for (const std::int64_t k : {1, 32, 33, 95, 161}) {
          if (test::under_sanitizer() && k < 161) continue;
          bench.check(*rung, with_gaps(of, 261, 131, k, a, b));
        }
        Problem p = with_gaps(of, 7, 13, 21, a, b);
        p.alpha = -2;
        p.beta = 0.5;
        p.ldc += 5;
        if (!test::under_sanitizer() || a != b) bench.check(*rung, p);
        // Whole fragments of 16, but not whole tiles.
        p = make_problem(of, 272, 144, 48, a, b, 0.5, 0.5);
        if (rung->id.find("simt") == std::string::npos) CHECK(rung->takes_own_path(p));
        bench.check(*rung, p);
      }
    }
  }
}

}  // namespace

TEST_CASE("fp16 tiles are right at their edges in every layout",
          "[gpu][gemm][half][half-tiles][sanitized]") {
  check_class(Class::fp16);
}

TEST_CASE("bf16 tiles are right at their edges in every layout",
          "[gpu][gemm][half][half-tiles][sanitized]") {
  check_class(Class::bf16);
}
