// The split of an fp32 number into two of tf32. That the planes of an operand are right, every rung
// of fp32 by tf32 is held to (gemm_rungs_test.cpp).

#include <cstring>

#include "gemm/blocks/tf32_split.cuh"
#include "tests/gpu/gpu_fixture.h"

TEST_CASE("the nearest tf32 is within half of its last bit", "[gpu][gemm]") {
  const auto bits_of = [](float x) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  };
  using fathom::gemm::nearest_tf32;
  CHECK(nearest_tf32(bits_of(1.0f)) == bits_of(1.0f));
  CHECK(nearest_tf32(bits_of(1 + 0x1p-11f)) == bits_of(1 + 0x1p-10f));  // a tie, away from zero
  CHECK(nearest_tf32(bits_of(1 + 0x1p-11f - 0x1p-23f)) == bits_of(1.0f));
  CHECK(nearest_tf32(bits_of(-1.5f - 0x1.8p-11f)) == bits_of(-1.5f - 0x1p-10f));
  CHECK(nearest_tf32(bits_of(2 - 0x1p-23f)) == bits_of(2.0f));
  CHECK(nearest_tf32(bits_of(-0.0f)) == bits_of(-0.0f));
}
