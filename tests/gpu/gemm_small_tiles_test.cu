// Products that fill the GPU with no tile: the top rungs cut them as skinny ones are, in several
// tiles each way.

#include <catch2/catch_test_macros.hpp>

#include "gemm/best/plan.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("small tiles whose k two blocks share are right next to each other",
          "[gpu][gemm][half][sanitized]") {
  test::RungBench bench;
  for (const char* id : {"fp16/15_deferred_stores", "bf16/15_deferred_stores", "fp8/01_promoted",
                         "fp8/02_fast_accumulation", "int8/01_wgmma"}) {
    const Rung& rung = *find_rung(id);
    if (!bench.runs(rung)) SKIP("wgmma needs sm_90a");
    const auto check = [&](const Problem& problem) {
      CAPTURE(problem.describe());
      // What the plan is asked on an H200, so that the test means the same everywhere.
      constexpr int sms = 132;
      REQUIRE(halves_of_small_tiles_are_sooner(problem, sms));
      bench.check(rung, problem, sms);
    };
    const bool few = test::under_sanitizer();
    for (const Transpose a : test::both) {
      for (const Transpose b : test::both) {
        if (!few) check(make_problem(rung.of, 1024, 1024, 1024, a, b));
        check(make_problem(rung.of, 520, 392, 1032, a, b, 2, -1));  // each layout is a kernel
      }
    }
    if (!few) check(make_problem(rung.of, 391, 519, 1031));
  }
}
