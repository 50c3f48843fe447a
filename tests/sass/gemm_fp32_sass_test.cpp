// How much of the loop of the warp-specialised fp32 kernels multiplies; what else they are made of:
// rung_code_contenders.cpp.

#include "tests/sass/sass_file.h"

namespace {

bool multiplies(const std::string& line) { return line.find("FFMA") != std::string::npos; }

/// The largest share of multiplications in a loop that has many, with what waits once a stage.
double share_of_multiplications(const std::vector<std::string>& lines) {
  double best = 0;
  for (std::size_t end = 0; end < lines.size(); ++end) {
    const std::size_t start = branch_target(lines[end]).value_or(end);
    if (start >= end) continue;
    const auto count = std::count_if(lines.begin() + static_cast<long>(start),
                                     lines.begin() + static_cast<long>(end), multiplies);
    if (count < 1024) continue;
    best = std::max(best, static_cast<double>(count) / static_cast<double>(end - start + 1));
  }
  return best;
}

}  // namespace

TEST_CASE("nine of ten instructions of the warp-specialised fp32 kernels' loop multiply",
          "[sass][gemm]") {
  int found = 0;
  for (const SassFunction& kernel : disassemble_ladder("fp32", "warp_specialised_tiles")) {
    if (kernel.name.find("warp_specialised_product<") == std::string::npos) continue;
    ++found;
    CAPTURE(kernel.name);
    CHECK(share_of_multiplications(kernel.lines) >= 0.89);
  }
  CHECK(found == 8);
}
