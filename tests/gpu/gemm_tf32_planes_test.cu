// An fp32 operand in two planes of tf32: what they hold, where, and what fills them up.

#include <cstring>

#include "gemm/best/tf32_planes.h"
#include "gemm/blocks/tf32_split.cuh"
#include "harness/probe.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::gemm;
using namespace fathom::gemm::fp32_3xtf32;

namespace {

std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

}  // namespace

TEST_CASE("the nearest tf32 is within half of its last bit", "[gpu][gemm]") {
  CHECK(nearest_tf32(bits_of(1.0f)) == bits_of(1.0f));
  CHECK(nearest_tf32(bits_of(1 + 0x1p-11f)) == bits_of(1 + 0x1p-10f));  // a tie, away from zero
  CHECK(nearest_tf32(bits_of(1 + 0x1p-11f - 0x1p-23f)) == bits_of(1.0f));
  CHECK(nearest_tf32(bits_of(-1.5f - 0x1.8p-11f)) == bits_of(-1.5f - 0x1p-10f));
  CHECK(nearest_tf32(bits_of(2 - 0x1p-23f)) == bits_of(2.0f));
  CHECK(nearest_tf32(bits_of(-0.0f)) == bits_of(-0.0f));
}

TEST_CASE("the planes of an operand add up to it, line for line", "[gpu][gemm][sanitized]") {
  test::Gpu gpu;
  Context context(gpu.facts, gpu.stream.get(), 1);
  constexpr std::int64_t outer = 75;
  for (const Major major : {Major::k, Major::outer}) {
    for (const std::int64_t k : {1, 30, 36, 4100}) {
      for (const std::int64_t gap : {0, 1, 4}) {
        for (const int columns : {16, 64, 128}) {
          const std::int64_t length = major == Major::k ? k : outer,
                             lines = major == Major::k ? outer : k;
          const std::int64_t stride = length + gap;
          CAPTURE(static_cast<int>(major), k, gap, columns);
          const Buffer source = context.buffers().input(
              "operand", static_cast<std::size_t>(stride * lines) * sizeof(float),
              Fill::normal_float);
          const TmaOperand operand{source.data, outer, k, stride, major, Element::f32};
          const Tf32Planes made = tf32_planes(operand, columns);
          REQUIRE(made.outer == 2 * ((outer + columns - 1) / columns * columns));
          REQUIRE((made.stride >= k && made.stride % 4 == 0));
          const Buffer target = context.buffers().output("planes", made.bytes());
          context.buffers().poison(target);
          const TmaOperand planes = launch_split(operand, columns, target.data, gpu.stream.get());
          CHECK((planes.outer == made.outer && planes.k == k && planes.major == Major::k));
          const auto x =
              test::to_host<float>(source.data, static_cast<std::size_t>(stride * lines));
          const auto found =
              test::to_host<float>(target.data, static_cast<std::size_t>(made.outer * made.stride));
          for (std::int64_t o = 0; o < made.outer / 2; ++o) {
            const std::int64_t high_line = o / columns * 2 * columns + o % columns;
            for (std::int64_t i = 0; i < k; ++i) {
              const float high = found[high_line * made.stride + i];
              const float low = found[(high_line + columns) * made.stride + i];
              const float whole =
                  o >= outer ? 0 : x[major == Major::k ? o * stride + i : i * stride + o];
              REQUIRE(high == high);
              REQUIRE((bits_of(high) & 0x1FFF) == 0);
              REQUIRE(high + low == whole);
              REQUIRE(std::abs(low) <= 0x1p-11f * std::abs(whole));
            }
          }
        }
      }
    }
  }
  CHECK_FALSE(context.buffers().guards_intact().has_value());
}
