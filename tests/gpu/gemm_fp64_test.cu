// fp64's contender where it is most likely to be wrong: edges of its tiles, of stages and of the
// TMA's boxes, every way for operands to lie, columns on 16 bytes and not, shares that
// begin and end within a tile.

#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;
using test::both;

namespace {

/// Tiles are 16 x 128, 64 x 128 and 128 x 128, in pairs 128 x 256; 16 of k are a stage, and a share
/// of a tile that is cut along k is at least 8 of these.
constexpr Shape shapes[] = {{1, 1, 1},      {0, 5, 7},     {5, 0, 7},     {5, 7, 0},
                            {16, 128, 16},  {17, 129, 31}, {67, 61, 97},  {128, 256, 64},
                            {129, 257, 65}, {1, 300, 640}, {300, 1, 647}, {150, 300, 329},
                            {16, 531, 272}, {70, 12, 4112}};

// Where every access is instrumented: past each tile's edge, with more stages than a ring has, and
// so many that shares begin and end within a tile. Lines of 128 bytes stream, in one pass and in
// three.
constexpr Shape few_shapes[] = {{129, 257, 289}, {16, 129, 193}, {129, 15, 193},
                                {40, 129, 193},  {16, 67, 208},  {33, 12, 4112}};

/// In every layout, with columns as they are and moved.
void add_layouts(std::vector<Problem>& all, const Shape& s) {
  for (const Transpose a : both) {
    for (const Transpose b : both) {
      const Problem plain = make_problem(Class::fp64, s.m, s.n, s.k, a, b);
      // Columns on 16 bytes that were not, and the other way round, B's in half of the layouts.
      Problem gaps = plain;
      gaps.alpha = 2;
      gaps.beta = -3;
      gaps.lda += 1;
      gaps.ldb += a == b ? 1 : 0;
      gaps.ldc += 3;
      // Lines of 128 bytes stream only where columns start on 16 bytes.
      const bool streams = s.k % 16 == 0;
      if (!test::under_sanitizer() || a == Transpose::no || streams) all.push_back(plain);
      if (!test::under_sanitizer() || a == Transpose::yes) all.push_back(gaps);
    }
  }
}

}  // namespace

TEST_CASE("fp64's contender is right on every small product", "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("fp64/08_late_reads");
  if (!bench.runs(rung)) SKIP("It runs on Hopper alone.");
  std::vector<Problem> problems{
      make_problem(Class::fp64, 33, 35, 37, Transpose::no, Transpose::no, 0, 0.5)};
  problems.front().ldc += 5;
  const std::span<const Shape> all = shapes, few = few_shapes;
  for (const Shape& s : test::under_sanitizer() ? few : all) add_layouts(problems, s);
  for (const Problem& problem : problems) bench.check(rung, problem);
}

// Large enough that every block of a persistent kernel has several tiles, some cut along k.
TEST_CASE("fp64 rungs are right over several tiles a block", "[gpu][gemm]") {
  test::RungBench bench;
  for (const Rung* rung : rungs_of(Class::fp64)) {
    if (!bench.runs(*rung)) continue;
    const auto check = [&](std::int64_t m, std::int64_t n, std::int64_t k, auto... more) {
      bench.check(*rung, make_problem(Class::fp64, m, n, k, more...));
    };
    for (const Transpose a : both) {
      for (const Transpose b : both) check(2048, 2304, 1040, a, b);
    }
    check(2047, 2303, 1039, Transpose::no, Transpose::no, 1, 2);
    check(1500, 2500, 712, Transpose::yes, Transpose::no, -1, 2);
    for (const std::int64_t narrow : {16, 40, 128}) {
      check(narrow, 4096, 4096);
      check(4096, narrow, 4096);
      check(narrow, 4095, 2049, Transpose::yes, Transpose::yes, 2, 1);
    }
  }
}
