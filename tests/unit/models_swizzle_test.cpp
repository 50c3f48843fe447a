#include "models/swizzle.h"

#include "models/shared_memory.h"
#include "tests/testing.h"

namespace fathom::models {
namespace {

// What `fathom predict swizzle` prints of the tiles of S8 and of a matrix product is held against
// tests/golden/sessions/predictions.txt.
using Order = TileAccess::Order;

/// Rows are stored and columns loaded, as a transpose does; operands of fp16 by 16 bytes a lane.
TileUse tile_of(int rows, int row_elements, int element_bytes, int bytes_per_lane) {
  return {.rows = rows,
          .row_elements = row_elements,
          .element_bytes = element_bytes,
          .accesses = {{Access::store, Order::row, bytes_per_lane},
                       {Access::load, Order::column, bytes_per_lane}}};
}
const TileUse transpose = tile_of(32, 32, 4, 4), operand = tile_of(64, 64, 2, 16);

TEST_CASE("The search finds the swizzle of the fewest bits, or none", "[models]") {
  TileUse rows_alone = transpose;
  rows_alone.accesses.pop_back();
  for (const auto& [tile, index] :
       {std::pair{tile_of(64, 32, 2, 16), "row * 32 + (column ^ (((row >> 1) & 3) << 3))"},
        {rows_alone, "row * 32 + column"}})
    CHECK(index_formula(tile, search_layouts(tile, 1).at(0).layout) == index);
  // The fragments of an mma are blocks of 8 x 4 words.
  const TileUse fragments{.rows = 16,
                          .row_elements = 64,
                          .element_bytes = 2,
                          .accesses = {{.order = Order::block, .bytes_per_lane = 4}}};
  CHECK(layout_cost(fragments, {}).conflicts > 0);
  CHECK(layout_cost(fragments, {.padding_elements = 8}).conflicts == 0);
  CHECK(search_layouts(fragments, 1)[0].conflicts == 0);
}

TEST_CASE("An index is of the column alone where it can be", "[models]") {
  const auto index = [](int padding, int bits, int base, int shift) {
    return index_formula(transpose, {padding, bits, base, shift});
  };
  CHECK(index(1, 0, 0, 0) == "row * 33 + column");
  CHECK(index(0, 2, 0, 3) == "(row * 32 + column) ^ (((row * 32 + column) >> 3) & 3)");
  CHECK(index(1, 2, 1, 5) == "(row * 33 + column) ^ ((((row * 33 + column) >> 6) & 3) << 1)");
  // And so they lie.
  for (std::uint64_t row = 0; row < 32; ++row) {
    for (std::uint64_t column = 0; column < 32; ++column) {
      const auto slot = [&](int padding, int bits, int base, int shift) {
        return TileLayout{padding, bits, base, shift}.slot(transpose, static_cast<int>(row),
                                                           static_cast<int>(column));
      };
      REQUIRE(slot(0, 5, 0, 5) == row * 32 + (column ^ (row & 31)));
      REQUIRE(slot(1, 2, 1, 5) == ((row * 33 + column) ^ ((((row * 33 + column) >> 6) & 3) << 1)));
    }
  }
}

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
      std::set<std::uint64_t> slots;  // no two elements in one
      for (int row = 0; row < tile.rows; ++row) {
        for (int column = 0; column < tile.row_elements; ++column)
          REQUIRE(slots.insert(layout.slot(tile, row, column)).second);
      }
      REQUIRE((*slots.rbegin() + 1) * static_cast<unsigned>(tile.element_bytes) <=
              static_cast<unsigned>(cost.shared_bytes));
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
            warp.address[lane] =
                layout.slot(tile, row, column) * static_cast<unsigned>(tile.element_bytes);
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
    TileUse tile = transpose;
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
  CHECK_THROWS_AS(layout_cost(transpose, {.bits = 5, .base = 0, .shift = 4}),
                  std::invalid_argument);
  CHECK_THROWS_AS(layout_cost(operand, {.bits = 3, .base = 2, .shift = 4}), std::invalid_argument);
  CHECK_THROWS_AS(layout_cost(operand, {.padding_elements = 1}), LaneError);
}

}  // namespace
}  // namespace fathom::models
