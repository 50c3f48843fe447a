#include "explain/analysis.h"
#include "tests/testing.h"
#include "tests/unit/explain_trace.h"

using namespace fathom::explain;
using fathom::test::pattern;
using fathom::test::strided;

namespace {

struct Planted {
  const char* name;
  Pattern pattern;
  int cost, least;
  std::optional<Rule> rule;
  const char *what = "", *fix = "";
};

std::uint64_t random_word(unsigned lane) {
  std::mt19937 engine(lane);
  return engine() % 10000 * 4;
}

std::vector<Planted> planted() {
  constexpr auto global = Space::global, shared = Space::shared;
  constexpr auto load = Op::load, store = Op::store;
  const auto row_column = [](unsigned lanes_per_row, unsigned pitch, unsigned bytes) {
    return [=](unsigned i) { return i / lanes_per_row * pitch + i % lanes_per_row * bytes; };
  };
  return {
      {"a copy", pattern(global, load, 4, strided(4)), 4, 4, {}},
      {"one word", pattern(global, load, 4, [](unsigned) { return 8; }), 1, 1, {}},
      {"every second float", pattern(global, load, 4, strided(8)), 8, 4, Rule::stride,
       "lanes 8 bytes apart", "neighbouring elements"},
      {"every fourth, stored", pattern(global, store, 4, strided(16)), 16, 4, Rule::stride,
       "lanes 16 bytes apart"},
      {"a member of seven floats", pattern(global, load, 4, strided(28, 24)), 28, 4, Rule::stride,
       "lanes 28 bytes apart"},
      {"down a column", pattern(global, load, 4, strided(4096)), 32, 4, Rule::stride,
       "lanes 4096 bytes apart"},
      {"pairs down a column", pattern(global, load, 4, row_column(2, 4096, 4)), 16, 4, Rule::stride,
       "groups of 2 lanes 4096 bytes apart"},
      {"one float on", pattern(global, load, 4, strided(4, 4)), 5, 4, Rule::misalignment,
       "4 bytes behind a 32-byte boundary", "multiple of 32 bytes"},
      {"two rows of an odd pitch", pattern(global, load, 4, row_column(16, 1004, 4)), 5, 4,
       Rule::misalignment, "rows 1004 bytes apart", "pad the rows"},
      {"a gather", pattern(global, load, 4, random_word), 32, 4, Rule::scatter},
      {"an atomic", pattern(global, Op::atomic, 4, strided(128)), 32, 32, {}},
      {"a row", pattern(shared, load, 4, strided(4)), 1, 1, {}},
      {"a padded column", pattern(shared, load, 4, strided(132)), 1, 1, {}},
      {"a column of floats", pattern(shared, load, 4, strided(128)), 32, 1, Rule::bank_conflict,
       "32 wavefronts instead of 1, lanes 128 bytes apart", "`row * 33 + column`"},
      {"a column of doubles", pattern(shared, load, 8, strided(128)), 32, 2, Rule::bank_conflict,
       "32 wavefronts instead of 2", "elements of 8 bytes"},
      {"rows of ldmatrix", pattern(shared, Op::matrix_load, 16, strided(128)), 32, 4,
       Rule::bank_conflict, "32 wavefronts instead of 4", "elements of 16 bytes"},
      {"a fragment of 8 by 4", pattern(shared, load, 4, row_column(4, 128, 4)), 8, 1,
       Rule::bank_conflict, "groups of 4 lanes 128 bytes apart", "row"},
  };
}

}  // namespace

TEST_CASE("A planted fault is named, and its fix removes it", "[explain]") {
  for (const Planted& one : planted()) {
    CAPTURE(one.name);
    const PatternCost cost = cost_of(one.pattern);
    CHECK(cost.cost == one.cost);
    CHECK(cost.least == one.least);
    REQUIRE(cost.fault.has_value() == one.rule.has_value());
    CHECK(cost.saved == one.cost - one.least);
    if (!one.rule) continue;
    CAPTURE(cost.fault->what, cost.fault->fix);
    CHECK(cost.fault->rule == *one.rule);
    CHECK_THAT(cost.fault->what, contains(one.what));
    CHECK_THAT(cost.fault->fix, contains(one.fix));
  }
}

TEST_CASE("A conflict of random words has no layout as its fix", "[explain]") {
  const PatternCost cost = cost_of(pattern(Space::shared, Op::load, 4, random_word));
  REQUIRE(cost.fault);
  CHECK(cost.fault->rule == Rule::bank_conflict);
  CHECK(cost.saved == 0);
  CHECK_THAT(cost.fault->fix, contains("no padding or XOR swizzle"));
  const PatternCost none = cost_of(pattern(Space::shared, Op::load, 4, random_word, 0, 1, 0));
  CHECK(none.cost == 0);
  CHECK_FALSE(none.fault);
}
