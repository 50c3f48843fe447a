#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

#include "tests/sass/sass_file.h"

// What tells fp32 rungs from each other beside the instructions that each has (rung_code_fp32.cpp).

namespace {

/// Share of multiplications among the instructions of the loop that has most of them. Instructions
/// have 16 bytes each, so that a branch's target is the number of an instruction.
double loop_share(const SassFunction& function) {
  int most = 0;
  double share = 0;
  for (std::size_t end = 0; end < function.lines.size(); ++end) {
    const std::string& line = function.lines[end];
    const std::size_t hex = line.rfind("0x");
    if (line.find("BRA") == std::string::npos || hex == std::string::npos) continue;
    const std::size_t start = std::stoul(line.substr(hex), nullptr, 16) / 16;
    if (start >= end) continue;
    int multiplications = 0;
    for (std::size_t i = start; i <= end; ++i)
      multiplications += function.instructions[i].starts_with("FFMA");
    if (multiplications <= most) continue;
    most = multiplications;
    share = multiplications / static_cast<double>(end - start + 1);
  }
  return share;
}

std::vector<const SassFunction*> pipelined(const std::string& tiling) {
  std::vector<const SassFunction*> found;
  for (const SassFunction& function : disassemble_ladder("fp32", "pipelined")) {
    if (function.name.find("pipelined_product<") != std::string::npos &&
        function.name.find("Tiling<" + tiling) != std::string::npos)
      found.push_back(&function);
  }
  return found;
}

}  // namespace

TEST_CASE("pipelined kernels mostly multiply", "[sass][gemm]") {
  struct Expected {
    const char* tiling;
    double share;  ///< at least, of the loop's instructions, however the operands lie
  };
  for (const Expected& e : {Expected{"128, 256, 16", 0.90},
                            {"128, 256, 8", 0.88},
                            {"256, 128, 16", 0.90},
                            {"128, 128, 8", 0.84},
                            {"256, 16, 16", 0.76}}) {
    const auto kernels = pipelined(e.tiling);
    CAPTURE(e.tiling);
    CHECK(kernels.size() == 9);  // three ways for each operand to lie
    for (const SassFunction* kernel : kernels) {
      CAPTURE(kernel->name);
      CHECK(loop_share(*kernel) >= e.share);
    }
  }
}
