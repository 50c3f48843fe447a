#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/sass/sass_file.h"

// The instructions that make each fp32 rung what it is.

namespace {

int total(const SassFunction& function, const std::string& prefix) {
  int sum = 0;
  for (const auto& [opcode, number] : function.histogram(prefix)) sum += number;
  return sum;
}

const SassFunction& rung(const std::string& name) {
  return find(disassemble_ladder("fp32", "_" + name), "::" + name + "_product(");
}

/// Share of multiplications among the instructions of the loop that has most of them. Instructions have
/// 16 bytes each, so that a branch's target is the number of an instruction.
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
  for (const SassFunction& function : disassemble_ladder("fp32", "tiling_")) {
    if (function.name.find("pipelined_product<") != std::string::npos &&
        function.name.find("Tiling<" + tiling) != std::string::npos)
      found.push_back(&function);
  }
  return found;
}

}  // namespace

TEST_CASE("the first rungs differ in the order of threads, not in instructions", "[sass][gemm]") {
  const SassFunction& naive = rung("naive");
  const SassFunction& coalesced = rung("coalesced");
  CHECK(total(naive, "FFMA") == total(coalesced, "FFMA"));
  CHECK(total(naive, "LDG") == total(coalesced, "LDG"));
  CHECK(total(naive, "LDS") == 0);
  CHECK(total(coalesced, "LDS") == 0);
  CHECK(total(rung("shuffle"), "SHFL") >= 32);
  CHECK(total(rung("shuffle"), "LDS") == 0);
}

TEST_CASE("each tile in shared memory takes as many multiplications as its shape says", "[sass][gemm]") {
  // One unrolled step of the tile's k.
  CHECK(total(rung("shared_memory"), "FFMA") >= 32);
  CHECK(total(rung("two_outputs"), "FFMA") >= 2 * 32);
  CHECK(total(rung("tile_1d"), "FFMA") >= 8 * 8);
  CHECK(total(rung("tile_2x2"), "FFMA") >= 16 * 4);
  CHECK(total(rung("tile_64"), "FFMA") >= 16 * 16);
  for (const char* name : {"tile_2d", "linearised", "padded", "swizzled", "double_buffered", "vectorised",
                           "registers_buffered", "warp_tile"}) {
    CAPTURE(name);
    CHECK(total(rung(name), "FFMA") >= 8 * 64);
    CHECK(total(rung(name), "LDGSTS") == 0);
  }
  CHECK(total(rung("tile_16x4"), "FFMA") >= 8 * 64);
}

TEST_CASE("vectorised rungs read and write 16 bytes at a time", "[sass][gemm]") {
  for (const char* name : {"vectorised", "vectorised_64", "tile_16x4", "registers_buffered", "warp_tile"}) {
    CAPTURE(name);
    const SassFunction& function = rung(name);
    CHECK(function.count("LDG.E.128") > 0);
    CHECK(function.count("LDG.E.128") == total(function, "LDG"));
    CHECK(function.count("LDS.128") > 0);
    CHECK(function.count("STS.128") > 0);  // B; A goes in by four lines
    CHECK(function.count("STG.E.128") > 0);
    CHECK(function.count("STG.E.128") == total(function, "STG"));
  }
  CHECK(total(rung("tile_2d"), "LDG") > rung("tile_2d").count("LDG.E.128"));
}

TEST_CASE("double buffering needs one barrier a step", "[sass][gemm]") {
  // Two in the loop; one in the loop and one before it.
  CHECK(total(rung("padded"), "BAR") == 2);
  CHECK(total(rung("vectorised"), "BAR") == 2);
  CHECK(total(rung("double_buffered"), "BAR") == 2);
  CHECK(total(rung("registers_buffered"), "BAR") == 2);
}

TEST_CASE("pipelined kernels copy asynchronously and mostly multiply", "[sass][gemm]") {
  struct Expected {
    const char* tiling;
    int multiplications;  ///< of one tile of k a thread
    double share;         ///< at least, of the loop's instructions, however the operands lie
  };
  for (const Expected& e : {Expected{"128, 256, 16", 16 * 128, 0.90}, {"128, 256, 8", 8 * 128, 0.88},
                            {"256, 128, 16", 16 * 128, 0.90}, {"128, 128, 8", 8 * 64, 0.84},
                            {"256, 16, 16", 16 * 32, 0.76}}) {
    const auto kernels = pipelined(e.tiling);
    CAPTURE(e.tiling);
    CHECK(kernels.size() == 9);  // three ways for each operand to lie
    for (const SassFunction* kernel : kernels) {
      CAPTURE(kernel->name);
      const int multiplications = total(*kernel, "FFMA");
      CHECK(multiplications >= e.multiplications);
      CHECK(total(*kernel, "LDGSTS") > 0);
      CHECK(kernel->count("LDS.128") > 0);
      CHECK(kernel->count("STG.E.128") > 0);
      CHECK(kernel->registers <= 255);
      CHECK(loop_share(*kernel) >= e.share);
    }
  }
}
