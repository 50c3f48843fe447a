#include "gemm/bench/conclude.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using namespace fathom::gemm;
using enum ClaimVerdict;

namespace {

Entry shared_tiles(double load_conflicts, double store_conflicts) {
  Entry e = planted::entry("gemm/fp64/01",
                           {{"part", "ladder"},
                            {"type", "fp64"},
                            {"rung", "01_shared_memory"},
                            {"layout", "NN"},
                            {"m", ladder_size},
                            {"n", ladder_size},
                            {"k", ladder_size},
                            {"alpha", 1.0},
                            {"beta", 0.0}},
                           3e12);
  planted::add_counter(e, "shared_load_wavefronts", 1000, 1000);
  planted::add_counter(e, "shared_load_conflicts", load_conflicts, 0);
  planted::add_counter(e, "shared_store_conflicts", store_conflicts, 0);
  return e;
}

}  // namespace

TEST_CASE("doubles in 16 x 16 tiles do not conflict if no counter says so", "[gemm]") {
  Entry uncounted = shared_tiles(0, 0), silent = uncounted;
  std::erase_if(uncounted.counters,
                [](const Counter& c) { return c.role == "shared_load_conflicts"; });
  silent.counters.front().value = 0;  // no wavefront at all: nothing was counted
  planted::check_verdicts(gemm::conclude, "S7",
                          {{confirmed, {shared_tiles(0, 0)}},
                           {refuted, {shared_tiles(3, 0)}},
                           // A thousandth is no layout's; and the claim is on what both operands
                           // are read from.
                           {confirmed, {shared_tiles(1, 0)}},
                           {confirmed, {shared_tiles(0, 300)}},
                           {not_measured, {uncounted}},
                           {not_measured, {}},
                           {not_measured, {silent}}});
}

TEST_CASE("the first fp64 rung's share is of the library on fp64", "[gemm]") {
  Entry entry = shared_tiles(0, 0);
  planted::check_verdicts(gemm::conclude, "G4", {{not_measured, {}}, {confirmed, {entry}}});
  entry.opponents = {planted::opponent("cuBLAS", 60e12, 0.05)};
  CHECK_THAT(planted::claim(gemm::conclude(std::vector{entry}).claims, "G4").figure,
             contains("5.0 % of cuBLAS"));
}
