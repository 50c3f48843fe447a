// Which of the library's algorithms stand against a rung.

#include "gemm/bench/fastest_way.h"
#include "gemm/bench/opponents.h"
#include "gemm/bench/problem.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("algorithms near the fastest are tried again, others and failed ones are not", "[gemm]") {
  using Times = std::vector<std::vector<double>>;
  using Indices = std::vector<std::size_t>;
  CHECK(finalists(Times{}).empty());
  CHECK(finalists(Times{{}, {}}).empty());
  CHECK(finalists(Times{{1.0}, {}, {1.49}, {1.51}, {5.0}}) == Indices{0, 2});
  CHECK(finalists(Times{{3.0}, {1.0}}) == Indices{1});
  CHECK(finalists(Times{{9.0, 1.1}, {1.0, 1.0}}) == Indices{0, 1});  // one launch may be held up
  CHECK(finalists(Times{{7e-6}, {5e-6}, {15e-6}}) == Indices{0, 1});
}

TEST_CASE("the fastest few meet again, in the heuristic's order", "[gemm]") {
  using Times = std::vector<std::vector<double>>;
  using Indices = std::vector<std::size_t>;
  const Times times{{4, 4}, {}, {1, 9, 1}, {3}, {2, 2}};
  CHECK(fastest_few(times, 2) == Indices{2, 4});
  CHECK(fastest_few(times, 9) == Indices{0, 2, 3, 4});
  CHECK(fastest_few(times, 0).empty());
  CHECK(fastest_few(Times{{1}, {1}, {1}}, 2) ==
        Indices{0, 1});  // the heuristic thinks better of them
  CHECK(fastest_few(Times{}, 2).empty());
  CHECK(fastest_few(Times{{3, 3, 3}, {}, {1, 2, 9}, {2, 2, 2}}, 1) == Indices{2});
  CHECK_THROWS(fastest_few(Times{{std::numeric_limits<double>::quiet_NaN()}}, 1));
}

TEST_CASE("a choice that is slower than the library's default says so", "[gemm]") {
  CHECK(slower_than_default(1.0, 1.1).empty());
  CHECK(slower_than_default(1.019, 1.0).empty());
  CHECK(slower_than_default(1.092, 1.0) ==
        "; when it was chosen it took 9.2 % longer than the library's default");
}

TEST_CASE("a variant is preferred to the default only where it is clearly faster", "[gemm]") {
  CHECK_FALSE(clearly_faster(1.2, 1.0));
  CHECK_FALSE(clearly_faster(0.998, 1.0));
  CHECK(clearly_faster(0.97, 1.0));
}

TEST_CASE("an algorithm is chosen for each product and kind of sums", "[gemm]") {
  const Problem p = make_problem(Class::fp8, 64, 64, 64, Transpose::yes);
  Problem other = p;
  other.ldc = 80;
  CHECK(choice_key(p, true) != choice_key(p, false));
  CHECK(choice_key(p, true) != choice_key(other, true));
}
