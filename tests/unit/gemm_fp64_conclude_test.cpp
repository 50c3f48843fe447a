#include <catch2/catch_test_macros.hpp>

#include "gemm/bench/conclude.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using namespace fathom::gemm;

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

Claim claim(const std::vector<Entry>& entries, const char* id) {
  return planted::claim(gemm::conclude(entries).claims, id);
}

}  // namespace

TEST_CASE("doubles in 16 x 16 tiles do not conflict if no counter says so", "[gemm]") {
  CHECK(claim({shared_tiles(0, 0)}, "S7").verdict == ClaimVerdict::confirmed);
  CHECK(claim({shared_tiles(3, 0)}, "S7").verdict == ClaimVerdict::refuted);
  // A thousandth is no layout's; and the claim is on what both operands are read from.
  CHECK(claim({shared_tiles(1, 0)}, "S7").verdict == ClaimVerdict::confirmed);
  CHECK(claim({shared_tiles(0, 300)}, "S7").verdict == ClaimVerdict::confirmed);
  Entry uncounted = shared_tiles(0, 0);
  std::erase_if(uncounted.counters,
                [](const Counter& c) { return c.role == "shared_load_conflicts"; });
  CHECK(claim({uncounted}, "S7").verdict == ClaimVerdict::not_measured);
  CHECK(claim({}, "S7").verdict == ClaimVerdict::not_measured);
  // No wavefront at all: nothing was counted.
  Entry silent = shared_tiles(0, 0);
  silent.counters.front().value = 0;
  CHECK(claim({silent}, "S7").verdict == ClaimVerdict::not_measured);
}

TEST_CASE("the first fp64 rung's share is of the library on fp64", "[gemm]") {
  CHECK(claim({}, "G4").verdict == ClaimVerdict::not_measured);
  Entry entry = shared_tiles(0, 0);
  CHECK(claim({entry}, "G4").verdict == ClaimVerdict::confirmed);
  Opponent library;
  library.name = "cuBLAS";
  library.value = 60e12;
  library.ratio = 0.05;
  entry.opponents = {library};
  CHECK(claim({entry}, "G4").figure.find("5.0 % of cuBLAS") != std::string::npos);
}
