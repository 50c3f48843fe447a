#include <catch2/catch_test_macros.hpp>

#include "probes/energy/kernels.h"
#include "tests/sass/sass_file.h"

using fathom::energy::loads_per_turn;

namespace {

/// Additions between the last `opcode` and the branch that follows it: those of the loop.
int additions_behind(const SassFunction& function, const std::string& opcode) {
  int loads = 0, additions = 0;
  for (const std::string& instruction : function.instructions) {
    if (instruction.starts_with(opcode)) {
      ++loads;
      additions = 0;
    } else if (loads > 0 && instruction.starts_with("BRA")) {
      break;
    } else if (instruction.starts_with("IADD3")) {
      ++additions;
    }
  }
  return additions;
}

}  // namespace

// The names of the levels are their numbers in the mangled name: shared 0, l1 1, l2 2.
TEST_CASE("a walk loads 16 bytes as often as it is counted", "[sass][energy]") {
  const auto functions = disassemble_library("probe_energy_kernels");
  int walks = 0;
  for (const SassFunction& function : functions) {
    if (function.name.find("walk_chunks") == std::string::npos) continue;
    ++walks;
    CAPTURE(function.name);
    const auto global = function.histogram("LDG");
    int loads = 0, wide = 0;
    for (const auto& [opcode, count] : global) {
      loads += count;
      if (opcode.find(".128") != std::string::npos) wide += count;
    }
    CHECK(loads == wide);
    if (function.count("STS") > 1) continue;  // shared memory: its loop is below
    CHECK(loads == loads_per_turn);
    CHECK(additions_behind(function, "LDG") == 2 * loads_per_turn);
  }
  CHECK(walks == 3);
}

TEST_CASE("the walk in shared memory reads it with 16 bytes a load", "[sass][energy]") {
  const auto functions = disassemble_library("probe_energy_kernels");
  int found = 0;
  for (const SassFunction& function : functions) {
    if (function.name.find("walk_chunks") == std::string::npos || function.count("STS") == 1)
      continue;
    ++found;
    CAPTURE(function.name);
    const auto loads = function.histogram("LDS");
    REQUIRE(loads.contains("LDS.128"));
    // The loop's, and those of the sum over the block's warps.
    CHECK(loads.at("LDS.128") >= loads_per_turn);
    CHECK(loads.at("LDS.128") <= loads_per_turn + 2);
    CHECK(loads.size() == 1);
  }
  CHECK(found == 1);
}

TEST_CASE("loads of the L2 pass the L1 by, loads of the L1 do not", "[sass][energy]") {
  const auto functions = disassemble_library("probe_energy_kernels");
  int past = 0, kept = 0;
  for (const SassFunction& function : functions) {
    if (function.name.find("walk_chunks") == std::string::npos || function.count("STS") > 1)
      continue;
    int strong = 0;
    for (const auto& [opcode, count] : function.histogram("LDG")) {
      if (opcode.find("STRONG.GPU") != std::string::npos) strong += count;
    }
    strong == loads_per_turn ? ++past : ++kept;
    if (strong != loads_per_turn) CHECK(strong == 0);
  }
  CHECK(past == 1);
  CHECK(kept == 1);
}

TEST_CASE("threads at rest sleep and do next to nothing else", "[sass][energy]") {
  const auto functions = disassemble_library("probe_energy_kernels");
  const SassFunction& rest = find(functions, "::rest(");
  CHECK(rest.count("NANOSLEEP") == 1);
  CHECK(rest.instructions.size() < 40);
}
