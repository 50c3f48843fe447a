#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/sass/sass_file.h"

// What tells fp32 rungs from each other beside the instructions that each has (rung_code_fp32.cpp).

namespace {

int total(const SassFunction& function, const std::string& prefix) {
  int sum = 0;
  for (const auto& [opcode, number] : function.histogram(prefix)) sum += number;
  return sum;
}

const SassFunction& rung(const std::string& name) {
  return find(disassemble_ladder("fp32", "_" + name), "::" + name + "_product(");
}

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
  CHECK(naive.histogram("") == coalesced.histogram(""));
}

TEST_CASE("vectorised rungs read and write 16 bytes at a time and no less", "[sass][gemm]") {
  for (const char* name :
       {"vectorised", "vectorised_64", "tile_16x4", "registers_buffered", "warp_tile"}) {
    CAPTURE(name);
    const SassFunction& function = rung(name);
    CHECK(function.count("LDG.E.128") == total(function, "LDG"));
    CHECK(function.count("STG.E.128") == total(function, "STG"));
  }
  CHECK(total(rung("tile_2d"), "LDG") > rung("tile_2d").count("LDG.E.128"));
}

// Claims GC8 and GC9: what a rung and its ablation have in common, and what not.
TEST_CASE("a fragment is read ahead whether the source says so or not", "[sass][gemm]") {
  constexpr std::size_t products = 64, reads = 4, steps = 8;  // of a thread and step, of a tile
  const auto& functions = disassemble_ladder("fp32", "18_registers_buffered");
  for (const char* name : {"::registers_buffered_product(", "::registers_unbuffered_product("}) {
    CAPTURE(name);
    // Multiplications before each read of a fragment.
    std::vector<std::size_t> before;
    std::size_t multiplied = 0;
    for (const std::string& instruction : find(functions, name).instructions) {
      if (instruction == "LDS.128") before.push_back(multiplied);
      multiplied += instruction.starts_with("FFMA");
    }
    REQUIRE(before.size() >= steps * reads);
    for (std::size_t i = 0; i < steps * reads; ++i) {
      CAPTURE(i);
      // Before the products of the step before have all begun.
      if (i >= reads) CHECK(before[i] < i / reads * products);
    }
  }
}

TEST_CASE("thread tiles of 8 x 8 and 16 x 4 differ in their reads of A and B alone",
          "[sass][gemm]") {
  const auto& functions = disassemble_ladder("fp32", "17_tile_16x4");
  const SassFunction& narrow = find(functions, "::tile_16x4_product(");
  const SassFunction& square = find(functions, "::tile_8x8_product(");
  for (const char* opcode : {"FFMA", "LDG", "STS", "STG", "BAR"}) {
    CAPTURE(opcode);
    CHECK(narrow.histogram(opcode) == square.histogram(opcode));
  }
  // Of eight k: 16 + 4 elements, and 8 + 8.
  CHECK(narrow.count("LDS.128") == 8 * (16 + 4) / 4);
  CHECK(square.count("LDS.128") == 8 * (8 + 8) / 4);
}

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
