// How fp64's contender gets its fragments; what else makes it what it is is in
// rung_code_fp64.cpp.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <regex>
#include <string>
#include <vector>

#include "tests/sass/sass_file.h"

namespace {

const std::vector<SassFunction>& functions() { return disassemble_ladder("fp64"); }

}  // namespace

TEST_CASE("fp64's contender reads nothing but what products take as it is", "[sass][gemm]") {
  if (!functions().front().for_hopper()) SKIP("This build is for a chip other than Hopper.");
  struct Expected {
    const char* shape;
    int a_words,
        b_words;  ///< 16-byte loads of a stage's fragments, and of the first's where it has its own
  };
  for (const Expected& e : {Expected{"::LateReads,", 16, 8},
                            {"::Rows16,", 4, 4},
                            {"::Rows64,", 8 + 4, 8 + 8}}) {
    CAPTURE(e.shape);
    int kernels = 0;
    for (const SassFunction& function : functions()) {
      if (function.name.find("tma_product<") == std::string::npos ||
          function.name.find(e.shape) == std::string::npos)
        continue;
      ++kernels;
      CAPTURE(function.name);
      // A along m and B along k, BLAS's plain layout: 16 bytes a load. Along k, A's and along n,
      // B's come one by one.
      const bool a_along_k =
          function.name.find("(fathom::gemm::Major)0, (fathom::gemm::Major)") != std::string::npos;
      const bool b_along_k = function.name.find("(fathom::gemm::Major)0>") != std::string::npos;
      if (!a_along_k && b_along_k) {
        CHECK(function.count("LDS.128") == e.a_words + e.b_words);
        CHECK(function.count("LDS.64") == 0);
      } else {
        CHECK(function.count("LDS.64") == (a_along_k ? 2 * e.a_words : 0) + 2 * e.b_words);
      }
    }
    CHECK(kernels == 4);
  }
}

TEST_CASE("late reads overwrite no register that the product before them takes", "[sass][gemm]") {
  if (!functions().front().for_hopper()) SKIP("This build is for a chip other than Hopper.");
  // 16 x 16 doubles of A and 16 x 8 of B in the registers of a warp's 32 lanes.
  const std::regex product("DMMA\\.16x8x16 R[0-9]+, R([0-9]+), R([0-9]+),.*");
  const std::regex read("LDS\\.(64|128) R([0-9]+),.*");
  constexpr int registers_of_a = 16, registers_of_b = 8;
  int kernels = 0;
  for (const SassFunction& function : functions()) {
    if (function.name.find("::LateReads,") == std::string::npos) continue;
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
