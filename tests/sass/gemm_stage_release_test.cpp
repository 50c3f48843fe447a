#include "tests/sass/sass_file.h"

// When the multiplying threads give a stage of the ring back to those who fill it, of fp32's rings
// and of fp64's.

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

/// How often a kernel gives a stage back, with nothing of it still to come from shared memory.
int releases_of(const SassFunction& kernel, auto is_release) {
  CAPTURE(kernel.name);
  REQUIRE(kernel.scoreboards.size() == kernel.lines.size());
  int releases = 0;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    if (!is_release(kernel.instructions[i])) continue;
    ++releases;
    CAPTURE(i);
    CHECK(loads_in_flight(kernel, i) == 0);
  }
  if (releases == 0) return 0;
  const auto load = std::ranges::find_if(kernel.instructions,
                                         [](const std::string& s) { return s.starts_with("LDS"); });
  REQUIRE(load != kernel.instructions.end());
  CHECK(loads_in_flight(kernel, static_cast<std::size_t>(load - kernel.instructions.begin())) == 1);
  return releases;
}

}  // namespace

// The compiler takes bar.arrive for allowed while loads before it are in flight; a build in which
// they were had products wrong by one k, hence StageRing::release (docs/gemm/tuning.md).
TEST_CASE("a stage is given back when all of it has been read", "[sass][gemm]") {
  int kernels = 0;
  for (const SassFunction& kernel : disassemble_ladder("fp32", "warp_specialised_tiles")) {
    const int releases = releases_of(kernel, [](const std::string& s) { return s == "BAR.ARV"; });
    CHECK(releases <= 1);
    kernels += releases;
  }
  CHECK(kernels == 8);
}

// The release of an mbarrier is the same to the compiler. All kernels of fp64's ring release a
// stage before they read the next one, so that no load at all may be in flight.
TEST_CASE("a stage of fp64's ring is given back when all of it has been read", "[sass][gemm]") {
  if (!disassemble_ladder("fp64").front().for_hopper())
    SKIP("This build is for a chip other than Hopper.");
  int kernels = 0;
  for (const SassFunction& kernel : disassemble_ladder("fp64")) {
    if (kernel.name.find("tma_product<") == std::string::npos) continue;
    ++kernels;
    // The loading thread's arrival, which expects bytes, counts none: it lacks the A1T0.
    CHECK(releases_of(kernel, [](const std::string& s) {
            return s.starts_with("SYNCS.ARRIVE") && s.ends_with("A1T0");
          }) == 1);
  }
  CHECK(kernels == 4);
}
