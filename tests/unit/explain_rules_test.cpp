#include "explain/analysis.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/explain_trace.h"

using namespace fathom::explain;
using fathom::test::pattern;
using fathom::test::strided;

namespace {

std::uint64_t random_word(unsigned lane) {
  std::mt19937 engine(lane);
  return engine() % 10000 * 4;
}

std::vector<std::pair<const char*, Pattern>> planted() {
  constexpr auto global = Space::global, shared = Space::shared;
  constexpr auto load = Op::load, store = Op::store;
  const auto row_column = [](unsigned lanes_per_row, unsigned pitch, unsigned bytes) {
    return [=](unsigned i) { return i / lanes_per_row * pitch + i % lanes_per_row * bytes; };
  };
  return {{"a copy", pattern(global, load, 4, strided(4))},
          {"one word", pattern(global, load, 4, [](unsigned) { return 8; })},
          {"every second float", pattern(global, load, 4, strided(8))},
          {"every fourth, stored", pattern(global, store, 4, strided(16))},
          {"a member of seven floats", pattern(global, load, 4, strided(28, 24))},
          {"down a column", pattern(global, load, 4, strided(4096))},
          {"pairs down a column", pattern(global, load, 4, row_column(2, 4096, 4))},
          {"one float on", pattern(global, load, 4, strided(4, 4))},
          {"two rows of an odd pitch", pattern(global, load, 4, row_column(16, 1004, 4))},
          {"a gather", pattern(global, load, 4, random_word)},
          {"an atomic", pattern(global, Op::atomic, 4, strided(128))},
          {"a row", pattern(shared, load, 4, strided(4))},
          {"a padded column", pattern(shared, load, 4, strided(132))},
          {"a column of floats", pattern(shared, load, 4, strided(128))},
          {"a column of doubles", pattern(shared, load, 8, strided(128))},
          {"rows of ldmatrix", pattern(shared, Op::matrix_load, 16, strided(128))},
          {"a fragment of 8 by 4", pattern(shared, load, 4, row_column(4, 128, 4))},
          {"random words, for which no layout is a fix", pattern(shared, load, 4, random_word)},
          {"no lane", pattern(shared, load, 4, random_word, 0, 1, 0)}};
}

}  // namespace

TEST_CASE("A planted fault is named, and what its fix saves", "[explain]") {
  std::string all;
  for (const auto& [name, access] : planted()) {
    const PatternCost cost = cost_of(access);
    all += fmt::format("{}: {} and at least {}\n", name, cost.cost, cost.least);
    if (cost.fault)
      all += fmt::format("  {}: {}; {}: {} fewer\n", fathom::to_string(cost.fault->rule),
                         cost.fault->what, cost.fault->fix, cost.saved);
  }
  fathom::check_golden(FATHOM_SOURCE_DIR "/tests/golden/explain_rules.txt", all);
}
