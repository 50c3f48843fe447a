#include "models/swizzle.h"

#include <charconv>

#include "models/shared_memory.h"
#include "tests/testing.h"

namespace fathom::models {
namespace {

using Order = TileAccess::Order;

/// The transpose's tile: rows stored, columns loaded.
TileUse transpose_tile() {
  return {.rows = 32,
          .row_elements = 32,
          .element_bytes = 4,
          .accesses = {{.op = Access::store, .order = Order::row, .bytes_per_lane = 4},
                       {.op = Access::load, .order = Order::column, .bytes_per_lane = 4}}};
}

/// A tile of fp16 operands: filled by 16-byte copies, read by rows of ldmatrix.
TileUse operand_tile(int rows, int row_elements) {
  return {.rows = rows,
          .row_elements = row_elements,
          .element_bytes = 2,
          .accesses = {{.op = Access::store, .order = Order::row, .bytes_per_lane = 16},
                       {.op = Access::load, .order = Order::column, .bytes_per_lane = 16}}};
}

TEST_CASE("S8: a plain transpose tile conflicts, padded by one or XORed it does not", "[models]") {
  const TileUse tile = transpose_tile();
  const LayoutCost plain = layout_cost(tile, {});
  CHECK(plain.conflicts == 32 * 31);
  CHECK(plain.conflicts_by_access == std::vector{0, 32 * 31});
  const LayoutCost padded = layout_cost(tile, {.padding_elements = 1});
  CHECK(padded.conflicts == 0);
  CHECK(padded.wasted_bytes == 31 * 4);
  CHECK(layout_cost(tile, {.padding_elements = 2}).conflicts == 32);
  const LayoutCost swizzled = layout_cost(tile, {.bits = 5, .base = 0, .shift = 5});
  CHECK(swizzled.conflicts == 0);
  CHECK(swizzled.wasted_bytes == 0);
  CHECK(swizzled.wavefronts == 64);

  const auto found = search_layouts(tile);
  REQUIRE(!found.empty());
  CHECK(found[0].conflicts == 0);
  CHECK(found[0].wasted_bytes == 0);
  CHECK(index_formula(tile, found[0].layout) == "row * 32 + (column ^ (row & 31))");
  CHECK(index_formula(tile, {.padding_elements = 1}) == "row * 33 + column");
}

TEST_CASE("128-byte rows of fp16 read as by ldmatrix need three bits of the row", "[models]") {
  const TileUse tile = operand_tile(64, 64);
  // Eight lanes read 16 bytes of eight rows that begin in the same bank.
  CHECK(layout_cost(tile, {}).conflicts == 64 * 64 / 8 / 8 * 7);
  const auto found = search_layouts(tile);
  REQUIRE(!found.empty());
  CHECK(found[0].conflicts == 0);
  CHECK(found[0].layout.bits == 3);
  CHECK(found[0].layout.base == 3);
  CHECK(found[0].layout.shift == 3);
  CHECK(index_formula(tile, found[0].layout) == "row * 64 + (column ^ ((row & 7) << 3))");
  CHECK(layout_cost(tile, {.padding_elements = 8}).conflicts == 0);
}

TEST_CASE("64-byte rows of fp16 need two bits, from every other row", "[models]") {
  const TileUse tile = operand_tile(64, 32);
  const auto found = search_layouts(tile);
  REQUIRE(!found.empty());
  CHECK(found[0].conflicts == 0);
  CHECK(found[0].wasted_bytes == 0);
  CHECK(found[0].layout.bits == 2);
  CHECK(layout_cost(tile, {.bits = 2, .base = 3, .shift = 3}).conflicts == 0);
}

TEST_CASE("A tile that has no conflicts stays as it is", "[models]") {
  TileUse tile = transpose_tile();
  tile.accesses.pop_back();
  const auto found = search_layouts(tile, 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].conflicts == 0);
  CHECK(index_formula(tile, found[0].layout) == "row * 32 + column");
}

TEST_CASE("The fragments of an mma are blocks of 8 x 4 words", "[models]") {
  const TileUse tile{.rows = 16,
                     .row_elements = 64,
                     .element_bytes = 2,
                     .accesses = {{.order = Order::block, .bytes_per_lane = 4, .block_rows = 8}}};
  CHECK(layout_cost(tile, {}).conflicts > 0);
  CHECK(layout_cost(tile, {.padding_elements = 8}).conflicts == 0);
  CHECK(search_layouts(tile, 1)[0].conflicts == 0);
}

/// The value of an index formula's own operators, so that what is printed is what is tested:
/// row, column, numbers, + * & ^ << >> and parentheses, by C++'s precedence.
class Formula {
 public:
  Formula(const std::string& text, std::uint64_t row, std::uint64_t column)
      : rest_(text), row_(row), column_(column) {}
  std::uint64_t value() {
    const std::uint64_t result = operations(0);
    REQUIRE(rest_.empty());
    return result;
  }

 private:
  bool take(std::string_view word) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::uint64_t operations(std::size_t level) {
    struct Operator {
      const char* word;
      std::uint64_t (*apply)(std::uint64_t, std::uint64_t);
    };
    static const std::vector<Operator> levels[] = {{{"^", [](auto a, auto b) { return a ^ b; }}},
                                                   {{"&", [](auto a, auto b) { return a & b; }}},
                                                   {{"<<", [](auto a, auto b) { return a << b; }},
                                                    {">>", [](auto a, auto b) { return a >> b; }}},
                                                   {{"+", [](auto a, auto b) { return a + b; }}},
                                                   {{"*", [](auto a, auto b) { return a * b; }}}};
    if (level == std::size(levels)) return atom();
    std::uint64_t left = operations(level + 1);
    const auto taken = [&](const Operator& o) { return take(o.word); };
    for (;;) {
      const auto next = std::ranges::find_if(levels[level], taken);
      if (next == levels[level].end()) return left;
      left = next->apply(left, operations(level + 1));
    }
  }
  std::uint64_t atom() {
    if (take("(")) {
      const std::uint64_t inner = operations(0);
      REQUIRE(take(")"));
      return inner;
    }
    if (take("row")) return row_;
    if (take("column")) return column_;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    REQUIRE(error == std::errc());
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }
  std::string_view rest_;
  std::uint64_t row_, column_;
};

TEST_CASE("What the search reports holds when every warp is counted again", "[models]") {
  std::mt19937_64 random(41);
  for (int trial = 0; trial < 40; ++trial) {
    TileUse tile;
    tile.element_bytes = 1 << random() % 4;
    const int chunk = 16 / tile.element_bytes;
    tile.rows = static_cast<int>(1 + random() % 40);
    tile.row_elements = chunk * static_cast<int>(1 + random() % 12);
    for (int i = 0; i < 2; ++i)
      tile.accesses.push_back({.op = random() % 2 == 0 ? Access::load : Access::store,
                               .order = i == 0 ? Order::row : Order::column,
                               .bytes_per_lane = std::max(tile.element_bytes, 1 << random() % 5)});
    const auto found = search_layouts(tile, 1000);
    REQUIRE(!found.empty());
    CAPTURE(trial, tile.rows, tile.row_elements, tile.element_bytes);
    for (std::size_t i = 0; i < found.size(); i += 1 + found.size() / 8) {
      const LayoutCost& cost = found[i];
      const TileLayout& layout = cost.layout;
      CAPTURE(i, layout.padding_elements, layout.bits, layout.base, layout.shift);
      if (i > 0) REQUIRE(cost.conflicts >= found[i - 1].conflicts);
      // The printed formula places every element where the model puts it, and no two in one slot.
      const std::string formula = index_formula(tile, layout);
      std::set<std::uint64_t> slots;
      const auto slot = [&](int row, int column) {
        return Formula(formula, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column))
            .value();
      };
      for (int row = 0; row < tile.rows; ++row) {
        for (int column = 0; column < tile.row_elements; ++column) {
          REQUIRE(slot(row, column) == layout.slot(tile, row, column));
          REQUIRE(slots.insert(slot(row, column)).second);
        }
      }
      REQUIRE((*slots.rbegin() + 1) * static_cast<unsigned>(tile.element_bytes) <=
              static_cast<unsigned>(cost.shared_bytes));
      // Conflicts by way of the formula, lane by lane.
      int conflicts = 0;
      for (const TileAccess& access : tile.accesses) {
        const int wide = access.bytes_per_lane / tile.element_bytes;
        const int across = tile.row_elements / wide;
        for (int first = 0; first < across * tile.rows; first += 32) {
          WarpAccess warp{
              .op = access.op, .bytes_per_lane = access.bytes_per_lane, .active_mask = 0};
          for (int lane = 0; lane < 32 && first + lane < across * tile.rows; ++lane) {
            const int n = first + lane;
            const bool by_row = access.order == Order::row;
            const int row = by_row ? n / across : n % tile.rows;
            const int column = (by_row ? n % across : n / tile.rows) * wide;
            warp.active_mask |= 1u << lane;
            warp.address[lane] = slot(row, column) * static_cast<unsigned>(tile.element_bytes);
          }
          conflicts += shared_cost(warp).conflicts;
        }
      }
      REQUIRE(conflicts == cost.conflicts);
    }
  }
}

TEST_CASE("Bad tiles and layouts are refused", "[models]") {
  const auto refused = [](const char* why, auto change) {
    TileUse tile = transpose_tile();
    change(tile);
    CHECK_THROWS_MATCHES(search_layouts(tile), std::invalid_argument,
                         MessageMatches(contains(why)));
  };
  refused("at least one row", [](TileUse& tile) { tile.rows = 0; });
  refused("not 3", [](TileUse& tile) { tile.element_bytes = 3; });
  refused("name at least one", [](TileUse& tile) { tile.accesses.clear(); });
  refused("largest shared memory", [](TileUse& tile) { tile.rows = 4096; });
  refused("at least an element's 4", [](TileUse& tile) { tile.accesses[0].bytes_per_lane = 2; });
  refused("whole number of 16-byte", [](TileUse& tile) {
    tile.row_elements = 33;
    tile.accesses[0].bytes_per_lane = 16;
  });
  refused("does not divide", [](TileUse& tile) {
    tile.accesses[0].order = Order::block;
    tile.accesses[0].block_rows = 5;
  });
  CHECK_THROWS_AS(layout_cost(transpose_tile(), {.bits = 5, .base = 0, .shift = 4}),
                  std::invalid_argument);
  CHECK_THROWS_AS(layout_cost(operand_tile(64, 64), {.bits = 3, .base = 2, .shift = 4}),
                  std::invalid_argument);
  CHECK_THROWS_AS(layout_cost(operand_tile(64, 64), {.padding_elements = 1}), LaneError);
}

}  // namespace
}  // namespace fathom::models
