#include "gemm/best/tf32_planes.h"
#include "tests/testing.h"

using namespace fathom::gemm;
using fp32_3xtf32::choose_operands;
using fp32_3xtf32::tf32_planes;

TEST_CASE("which operand is split before a product, and how it lies", "[gemm]") {
  constexpr Transpose no = Transpose::no, yes = Transpose::yes;
  const auto choice = [](std::int64_t m, std::int64_t n, Transpose a, Transpose b, int gap_a = 0,
                         int gap_b = 0) {
    Problem p = make_problem(Class::fp32_3xtf32, m, n, m + n > 1024 ? 8192 : 512, a, b);
    p.lda += gap_a, p.ldb += gap_b;
    return choose_operands({p});
  };
  // The one along k needs no transposition: BLAS's A where it is transposed, its B where it is not.
  // Where both lie alike, C is contiguous along the kernel's columns.
  for (const auto& [a, b] : {std::pair{no, no}, {yes, yes}, {no, yes}, {yes, no}})
    CHECK(choice(512, 512, a, b).a_first == (a == no && b == no));
  for (const Transpose a : {no, yes}) {
    CHECK(choice(512, 512, yes, a).second.major == Major::k);
    // The small one of a skinny product.
    for (const Transpose b : {no, yes}) {
      CHECK(choice(16, 8192, a, b).second.outer == 16);
      CHECK(choice(8192, 16, a, b).second.outer == 16);
    }
  }
  // One on no 16 bytes, rather than that it is copied; where both are, as if none were.
  CHECK_FALSE(choice(512, 512, no, no, 1).a_first);
  CHECK(choice(512, 512, no, no, 1, 1).a_first);
}

TEST_CASE("planes hold both parts of whole tiles, with lines on 16 bytes", "[gemm]") {
  const auto planes = tf32_planes({nullptr, 130, 30, 30, Major::k, Element::f32}, 128);
  CHECK(planes.outer == 512);
  CHECK(planes.stride == 32);
  CHECK(planes.bytes() == 512 * 32 * 4);
  CHECK(tf32_planes({nullptr, 3, 1, 1, Major::k, Element::f32}, 16).bytes() == 512);
}

// What is recorded is held against recordings (gemm_plans_test.cpp). When waves of blocks that
// share k counted as they would alone, an H200 took, with n = k = 4096, 963 us at m = 3088 to 1000
// at 3328 in 13 waves and 1107 us at 3600 to 1150 at 3840 in 15; whole, 894 us at 3344 to 896 at
// 3584 in 7 and 1009 us at 3856 to 1021 at 4096 in 8.
TEST_CASE("tiles leave few SMs without work, and k is shared by few waves alone", "[gemm]") {
  using fp32_3xtf32::best_tile;
  using fp32_3xtf32::split_tiles;
  using fp32_3xtf32::SplitTile;
  const auto tile = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return split_tiles[best_tile(m, n, k, 132)];
  };
  CHECK(tile(8192, 128, 8192) == SplitTile{128, 2});
  CHECK(tile(8192, 16, 8192) == SplitTile{16, 2});
  // So little k is not worth sharing. A wave and a half of whole tiles, whose k is long: three
  // shared ones, not timed.
  CHECK(tile(128, 128, 32).split_k == 1);
  CHECK(tile(8192, 300, 8192).split_k == 2);
  for (const std::int64_t size : {1, 100, 3000}) {
    for (const int few : {1, 16, 1000}) {
      const int found = best_tile(size, size, size, few);
      CHECK((found >= 0 && found < static_cast<int>(std::size(split_tiles))));
    }
  }
}
