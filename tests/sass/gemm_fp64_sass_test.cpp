// When fp64's contender reads its fragments; what else it is made of: rung_code_contenders.cpp.

#include <regex>

#include "tests/sass/sass_file.h"

TEST_CASE("late reads overwrite no register that the product before them takes", "[sass][gemm]") {
  const std::vector<SassFunction>& functions = disassemble_ladder("fp64");
  if (!functions.front().for_hopper()) SKIP("This build is for a chip other than Hopper.");
  // 16 x 16 doubles of A and 16 x 8 of B in the registers of a warp's 32 lanes.
  const std::regex product("DMMA\\.16x8x16 R[0-9]+, R([0-9]+), R([0-9]+),.*");
  const std::regex read("LDS\\.(64|128) R([0-9]+),.*");
  constexpr int registers_of_a = 16, registers_of_b = 8;
  int kernels = 0;
  for (const SassFunction& function : functions) {
    if (function.name.find("tma_product<") == std::string::npos) continue;
    ++kernels;
    CAPTURE(function.name);
    int a = -1, b = -1, reads = 0;
    for (const std::string& line : function.lines) {
      CAPTURE(line);
      std::smatch match;
      if (std::regex_match(line, match, product)) {
        a = std::stoi(match[1]), b = std::stoi(match[2]);
      } else if (std::regex_match(line, match, read) && a >= 0) {
        const int first = std::stoi(match[2]), end = first + std::stoi(match[1]) / 32;
        CHECK_FALSE((first < a + registers_of_a && a < end));
        CHECK_FALSE((first < b + registers_of_b && b < end));
        ++reads;
      }
    }
    CHECK(reads >= 24);
  }
  CHECK(kernels == 4);
}
