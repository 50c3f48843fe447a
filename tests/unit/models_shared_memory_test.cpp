#include "models/shared_memory.h"

#include "random_access.h"
#include "tests/testing.h"

namespace fathom::models {
namespace {

void check(const WarpAccess& access, int wavefronts, int conflicts) {
  const SharedCost cost = shared_cost(access);
  CHECK(cost.wavefronts == wavefronts);
  CHECK(cost.conflicts == conflicts);
}

TEST_CASE("S2: 32-bit accesses cost the distinct words of the busiest bank", "[models]") {
  for (const Access op : both) {
    check(strided(op, 4, 4), 1, 0);
    check(strided(op, 4, 4, 12), 1, 0);
    for (int stride = 1; stride <= 32; ++stride) {
      // 32 words of a stride fall into 32 / gcd(stride, 32) banks.
      const int ways = std::gcd(stride, 32);
      check(strided(op, 4, static_cast<std::uint64_t>(stride) * 4), ways, ways - 1);
    }
    check(broadcast(op, 4, 64), 1, 0);
    check(grouped(op, 4, 16, 0), 1, 0);    // both half-warps read the same 16 words
    check(grouped(op, 4, 16, 128), 2, 1);  // ... and the same banks at other words
  }
}

TEST_CASE("Accesses narrower than a word count by the words they lie in", "[models]") {
  for (const Access op : both) {
    check(strided(op, 1, 1), 1, 0);
    check(strided(op, 2, 2), 1, 0);
    check(strided(op, 2, 64), 16, 15);
    check(strided(op, 1, 128), 32, 31);
  }
}

TEST_CASE("S3 and S6: contiguous 64-bit accesses are two wavefronts and no conflict", "[models]") {
  for (const Access op : both) {
    check(strided(op, 8, 8), 2, 0);
    check(strided(op, 8, 16), 4, 2);
    check(strided(op, 8, 128), 32, 30);
  }
}

TEST_CASE("S4: 64-bit half-warps merge where lanes i and i^1, or i and i^2, agree", "[models]") {
  const Access op = Access::load;
  check(paired(op, 8, 1), 1, 0);
  check(paired(op, 8, 2), 1, 0);
  check(paired(op, 8, 4), 2, 0);  // lanes i and i^4: no merge
  check(broadcast(op, 8), 1, 0);
  // Agreement must be of one kind over the whole warp.
  WarpAccess mixed = paired(op, 8, 1);
  const WarpAccess other = paired(op, 8, 2);
  std::copy(other.address.begin() + 16, other.address.end(), mixed.address.begin() + 16);
  check(mixed, 2, 0);
  // One disagreeing pair prevents it, unless one of the pair is inactive.
  WarpAccess broken = paired(op, 8, 1);
  broken.address[7] = broken.address[9];
  check(broken, 2, 0);
  check(masked(broken, ~(1u << 7)), 1, 0);
  check(masked(paired(op, 8, 1), 0x5555'5555u), 1, 0);   // no pair i, i^1 is active at all
  check(masked(strided(op, 8, 8), 0x5555'5555u), 2, 1);  // merged, and two words in each bank
  check(masked(strided(op, 8, 8), 0x0000'ffffu), 1, 0);  // a half-warp alone
}

TEST_CASE("S5: 128-bit accesses are four wavefronts, or two where quarters merge", "[models]") {
  const Access op = Access::load;
  check(paired(op, 16, 1), 2, 0);
  check(paired(op, 16, 2), 2, 0);
  check(paired(op, 16, 4), 4, 0);
  check(broadcast(op, 16), 2, 0);  // the halves never merge
  // A half-warp cannot merge for itself.
  WarpAccess half = strided(op, 16, 16);
  const WarpAccess pairs = paired(op, 16, 1);
  std::copy(pairs.address.begin(), pairs.address.begin() + 16, half.address.begin());
  check(half, 4, 0);
  check(masked(strided(op, 16, 16), 0x5555'5555u), 4, 2);
  for (const Access any : both) {
    check(strided(any, 16, 16), 4, 0);
    check(strided(any, 16, 128), 32, 28);
    check(masked(strided(any, 16, 16), 0x0000'00ffu), 1, 0);
  }
}

TEST_CASE("Stores never merge", "[models]") {
  const Access op = Access::store;
  check(paired(op, 8, 1), 2, 0);
  check(broadcast(op, 8), 2, 0);
  check(paired(op, 16, 1), 4, 0);
  check(broadcast(op, 16), 4, 0);
  check(masked(strided(op, 8, 8), 0x5555'5555u), 2, 0);
}

TEST_CASE("A group without an active lane is no wavefront but takes its clock", "[models]") {
  const auto clocks = [](const WarpAccess& access) { return shared_cost(access).clocks; };
  for (const Access op : both) {
    CHECK(clocks(masked(strided(op, 4, 4), 0x0000'ffffu)) == 1);
    CHECK(clocks(masked(strided(op, 8, 8), 0x0000'ffffu)) == 2);
    CHECK(clocks(masked(strided(op, 16, 16), 0x0000'ffffu)) == 4);
    CHECK(clocks(masked(strided(op, 16, 128), 0x0000'00ffu)) == 8);
  }
  CHECK(clocks(masked(strided(Access::load, 16, 16), 1u)) == 2);  // merged: two halves
  CHECK(clocks(masked(strided(Access::store, 16, 16), 1u)) == 4);
}

TEST_CASE("S7: a 16x16 tiled product of doubles takes two wavefronts an operand", "[models]") {
  // A warp is two rows of 16 threads: one operand broadcasts along a row, the other is contiguous.
  const Tile tile{.element_bytes = 8, .row_elements = 16};
  for (int k = 0; k < 16; ++k) {
    WarpAccess a{.bytes_per_lane = 8};
    WarpAccess b{.bytes_per_lane = 8};
    for (int lane = 0; lane < warp_size; ++lane) {
      a.address[lane] = tile.address(lane / 16, k);
      b.address[lane] = tile.address(k, lane % 16);
    }
    // The broadcasts' pairs agree, so the halves merge, and their two doubles are 16 rows x 8 bytes
    // apart: the same banks. By the rule that is a second wavefront, as without merging, but it
    // counts as a conflict.
    CHECK(shared_cost(a).wavefronts == 2);
    CHECK(shared_cost(b).conflicts == 0);
  }
}

TEST_CASE("S8: padding or an XOR swizzle removes the conflicts of a column", "[models]") {
  const Tile plain{};
  const Tile padded{.padding_elements = 1};
  const Tile swizzled{.xor_swizzle = true};
  for (const Access op : both) {
    for (int column = 0; column < 32; ++column) {
      check(tile_column(op, plain, column), 32, 31);
      check(tile_column(op, padded, column), 1, 0);
      check(tile_column(op, swizzled, column), 1, 0);
      check(tile_row(op, swizzled, column), 1, 0);
    }
  }
}

TEST_CASE("A wide broadcast needs fewer wavefronts by its words than by its groups", "[models]") {
  const SharedCost cost = shared_cost(broadcast(Access::load, 16));
  CHECK(cost.groups == 2);
  CHECK(cost.minimum == 1);
  CHECK(shared_group_lanes(4) == 32);
  CHECK(shared_group_lanes(8) == 16);
  CHECK(shared_group_lanes(16) == 8);
}

TEST_CASE("No active lane costs nothing", "[models]") {
  const SharedCost cost = shared_cost(masked(strided(Access::load, 4, 4), 0));
  CHECK(cost.wavefronts == 0);
  CHECK(cost.conflicts == 0);
  CHECK(cost.minimum == 0);
}

TEST_CASE("Bad accesses to shared memory are refused with the lane named", "[models]") {
  CHECK_THROWS_MATCHES(shared_cost(strided(Access::load, 3, 4)), std::invalid_argument,
                       MessageMatches(contains("not 3")));
  CHECK_THROWS_AS(shared_cost(strided(Access::load, 32, 32)), std::invalid_argument);
  WarpAccess access = strided(Access::load, 8, 8);
  access.address[5] = 44;
  CHECK_THROWS_MATCHES(shared_cost(access), std::invalid_argument,
                       MessageMatches(contains("lane 5")));
  CHECK_NOTHROW(shared_cost(masked(access, ~(1u << 5))));
  access = strided(Access::load, 4, 4);
  access.address[31] = shared_address_limit;
  CHECK_THROWS_MATCHES(shared_cost(access), std::invalid_argument,
                       MessageMatches(contains("lane 31")));
  access.address[31] = ~std::uint64_t{3};
  CHECK_THROWS_AS(shared_cost(access), std::invalid_argument);
  access.address[31] = shared_address_limit - 4;
  CHECK_NOTHROW(shared_cost(access));
}

TEST_CASE("Tiles refuse elements that they do not have", "[models]") {
  const Tile tile{.row_elements = 24, .xor_swizzle = true};
  CHECK_THROWS_MATCHES(tile.address(0, 0), std::invalid_argument,
                       MessageMatches(contains("power of two")));
  CHECK_THROWS_AS(Tile{}.address(0, 32), std::invalid_argument);
  CHECK_THROWS_AS(Tile{}.address(-1, 0), std::invalid_argument);
  CHECK_THROWS_AS(tile_row(Access::load, Tile{}, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(grouped(Access::load, 4, 5, 0), std::invalid_argument);
}

}  // namespace
}  // namespace fathom::models
