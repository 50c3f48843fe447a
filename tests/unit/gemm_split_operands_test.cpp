#include <catch2/catch_test_macros.hpp>

#include "gemm/fp32_3xtf32/split_operands.h"
#include "gemm/fp32_3xtf32/split_plan.h"

using namespace fathom::gemm;
using fp32_3xtf32::choose_operands;

namespace {

Problem product(std::int64_t m, std::int64_t n, std::int64_t k, Transpose a, Transpose b) {
  return make_problem(Class::fp32_3xtf32, m, n, k, a, b);
}
constexpr Transpose no = Transpose::no, yes = Transpose::yes;

}  // namespace

TEST_CASE("what is split before a product along k needs no transposition", "[gemm]") {
  // BLAS's A lies along k where it is transposed, its B where it is not.
  CHECK(choose_operands({product(512, 512, 512, no, no)}).a_first);
  CHECK_FALSE(choose_operands({product(512, 512, 512, yes, yes)}).a_first);
  for (const Transpose b : {no, yes}) {
    const auto choice = choose_operands({product(512, 512, 512, yes, b)});
    CHECK(choice.second.major == Major::k);
  }
  // Where both lie alike, C is contiguous along the kernel's columns.
  CHECK_FALSE(choose_operands({product(512, 512, 512, no, yes)}).a_first);
  CHECK_FALSE(choose_operands({product(512, 512, 512, yes, no)}).a_first);
}

TEST_CASE("of a skinny product the small operand is split before it", "[gemm]") {
  for (const Transpose a : {no, yes}) {
    for (const Transpose b : {no, yes}) {
      CHECK(choose_operands({product(16, 8192, 8192, a, b)}).second.outer == 16);
      CHECK(choose_operands({product(8192, 16, 8192, a, b)}).second.outer == 16);
    }
  }
}

TEST_CASE("an operand on no 16 bytes is split before the product rather than copied", "[gemm]") {
  Problem p = product(512, 512, 512, no, no);
  p.lda = 513;
  CHECK_FALSE(choose_operands({p}).a_first);
  p.ldb = 513;  // both: as if both were on 16 bytes
  CHECK(choose_operands({p}).a_first);
}

TEST_CASE("planes hold both parts of whole tiles, with lines on 16 bytes", "[gemm]") {
  const auto planes = tf32_planes({nullptr, 130, 30, 30, Major::k, Element::f32}, 128);
  CHECK(planes.outer == 512);
  CHECK(planes.stride == 32);
  CHECK(planes.bytes() == 512 * 32 * 4);
  CHECK(fp32_3xtf32::plane_bytes({nullptr, 3, 1, 1, Major::k, Element::f32}, 16) == 512);
}

TEST_CASE("tiles leave few SMs without work", "[gemm]") {
  using fp32_3xtf32::best_tile;
  using fp32_3xtf32::split_tiles;
  using fp32_3xtf32::SplitTile;
  constexpr int sms = 132;
  CHECK(split_tiles[best_tile(4096, 4096, 4096, sms)] == SplitTile{128, 1});
  CHECK(split_tiles[best_tile(8192, 8192, 8192, sms)] == SplitTile{128, 1});
  CHECK(split_tiles[best_tile(1024, 1024, 1024, sms)] == SplitTile{64, 1});
  CHECK(split_tiles[best_tile(8192, 128, 8192, sms)] == SplitTile{128, 2});
  CHECK(split_tiles[best_tile(8192, 16, 8192, sms)] == SplitTile{16, 2});
  // So little k is not worth sharing.
  CHECK(split_tiles[best_tile(128, 128, 32, sms)].split_k == 1);
  for (const std::int64_t size : {1, 100, 3000}) {
    for (const int few : {1, 16, 1000}) {
      const int tile = best_tile(size, size, size, few);
      CHECK((tile >= 0 && tile < static_cast<int>(std::size(split_tiles))));
    }
  }
}
