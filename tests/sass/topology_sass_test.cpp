#include <algorithm>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "probes/topology/kernels.h"
#include "tests/sass/sass_file.h"

using namespace fathom::topology;

TEST_CASE("between the clocks there is one access to a line and the store that needs it",
          "[sass][topology]") {
  const auto functions = disassemble_library("probe_topology_kernels");
  for (const auto& [access, opcode] : {std::pair{LineAccess::load, "LDG.E.STRONG.GPU"},
                                       {LineAccess::atomic_add, "ATOMG.E.ADD.STRONG.GPU"}}) {
    const SassFunction& function = find(functions, instance("line_latencies", access));
    CAPTURE(function.name);
    int brackets = 0;
    for (const auto& part : parts_by_clock(function)) {
      // What is longer leads from one bracket to the next.
      if (part.size() > 6 || std::ranges::none_of(part, [&](const std::string& line) {
            return line.starts_with(opcode);
          }))
        continue;
      ++brackets;
      int accesses = 0, others = 0;
      for (const std::string& line : part) {
        CAPTURE(line);
        if (line.starts_with(opcode)) {
          ++accesses;
        } else if (line.starts_with("STS")) {
          CHECK(accesses == 1);
        } else {
          // Nothing that waits, and nothing that takes from memory of any kind.
          ++others;
          for (const char* memory : {"LD", "ST", "ATOM", "S2", "BAR", "MEMBAR"}) {
            CHECK_FALSE(line.starts_with(memory));
          }
        }
      }
      CHECK(accesses == 1);
      CHECK(others <= 2);
    }
    CHECK(brackets == 1);
  }
  // One in the loop over warm passes, and one that is timed: none merged, none unrolled.
  const SassFunction& loads = find(functions, instance("line_latencies", LineAccess::load));
  CHECK(loads.count("LDG.E.STRONG.GPU") == 2);
}

TEST_CASE("SMs stream with accesses of 16 bytes, and wait with atomics", "[sass][topology]") {
  const auto functions = disassemble_library("probe_topology_kernels");
  const SassFunction& loads = find(functions, instance("contend", Traffic::load));
  CHECK(loads.count("LDG.E.128.STRONG.GPU") >= 8);
  CHECK(loads.histogram("LDG").size() == 1);
  CHECK(loads.count("STG.E.128") == 0);
  const SassFunction& stores = find(functions, instance("contend", Traffic::store));
  CHECK(stores.count("STG.E.128") >= 8);
  CHECK(stores.histogram("LDG").empty());
  for (const SassFunction* function : {&loads, &stores}) {
    CAPTURE(function->name);
    CHECK(function->count("ATOMG.E.OR") >= 4);
    CHECK(function->count("NANOSLEEP") >= 1);
  }
}
