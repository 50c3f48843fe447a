#include <catch2/catch_test_macros.hpp>

#include "probes/energy/kernels.h"
#include "tests/sass/sass_file.h"

using namespace fathom::energy;

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

TEST_CASE("a walk loads 16 bytes as often as it is counted, past the L1 for the L2's alone",
          "[sass][energy]") {
  const auto functions = disassemble_library("probe_energy_kernels");
  for (const Level level : {Level::shared, Level::l1, Level::l2}) {
    const SassFunction& walk = find(functions, "walk_chunks<(fathom::energy::Level)" +
                                                   std::to_string(static_cast<int>(level)) + ">");
    CAPTURE(walk.name);
    int loads = 0, past_l1 = 0;
    for (const auto& [opcode, count] : walk.histogram("LDG")) {
      CHECK(opcode.find(".128") != std::string::npos);
      loads += count;
      if (opcode.find("STRONG.GPU") != std::string::npos) past_l1 += count;
    }
    if (level == Level::shared) {
      // The loop's, and those of the sum over the block's warps.
      const auto shared_loads = walk.histogram("LDS");
      REQUIRE(shared_loads.contains("LDS.128"));
      CHECK(shared_loads.at("LDS.128") >= loads_per_turn);
      CHECK(shared_loads.at("LDS.128") <= loads_per_turn + 2);
      CHECK(shared_loads.size() == 1);
    } else {
      CHECK(loads == loads_per_turn);
      CHECK(past_l1 == (level == Level::l2 ? loads : 0));
      CHECK(additions_behind(walk, "LDG") == 2 * loads_per_turn);
    }
  }
}

TEST_CASE("threads at rest sleep and do next to nothing else", "[sass][energy]") {
  const auto functions = disassemble_library("probe_energy_kernels");
  const SassFunction& rest = find(functions, "::rest(");
  CHECK(rest.count("NANOSLEEP") == 1);
  CHECK(rest.instructions.size() < 40);
}
