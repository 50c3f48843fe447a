#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

#include "tests/sass/sass_file.h"

// When the multiplying threads give a stage of the ring back to those who fill it.

namespace {

/// Loads from shared memory before instruction `at` whose results nothing has waited for by then,
/// along the code as it lies.
int loads_in_flight(const SassFunction& kernel, std::size_t at) {
  std::array<int, 8> loads{};
  for (std::size_t i = 0; i <= at; ++i) {
    const Scoreboards& s = kernel.scoreboards[i];
    for (std::size_t board = 0; board < 6; ++board)
      if (s.awaited >> board & 1) loads[board] = 0;
    if (kernel.instructions[i].starts_with("LDS")) ++loads[static_cast<std::size_t>(s.written)];
  }
  loads[Scoreboards::none] = 0;
  int all = 0;
  for (const int n : loads) all += n;
  return all;
}

}  // namespace

// The compiler takes bar.arrive for allowed while loads before it are in flight; a build in which they were
// had products wrong by one k, hence FedRing::release (docs/gemm/tuning-fp32.md).
TEST_CASE("a stage is given back when all of it has been read", "[sass][gemm]") {
  int kernels = 0;
  for (const char* file : {"transposing_fed", "engine_fed", "thread_fed"}) {
    for (const SassFunction& kernel : disassemble_ladder("fp32", file)) {
      CAPTURE(kernel.name);
      REQUIRE(kernel.scoreboards.size() == kernel.lines.size());
      const auto released = std::ranges::find(kernel.instructions, "BAR.ARV");
      if (released == kernel.instructions.end()) continue;
      ++kernels;
      CHECK(std::ranges::count(kernel.instructions, "BAR.ARV") == 1);
      const auto in_flight_at = [&](auto instruction) {
        return loads_in_flight(kernel,
                               static_cast<std::size_t>(instruction - kernel.instructions.begin()));
      };
      CHECK(in_flight_at(released) == 0);
      const auto load = std::ranges::find(kernel.instructions, "LDS.128");
      REQUIRE(load != kernel.instructions.end());
      CHECK(in_flight_at(load) == 1);
    }
  }
  CHECK(kernels == 9);
}
