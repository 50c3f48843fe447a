#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/sass/sass_file.h"

namespace {

bool reads_clock(const std::string& line) {
  return line.starts_with("CS2R") && line.find("SR_CLOCKLO") != std::string::npos;
}

/// What stands between two clock reads with no other between them, where `opcode` is among it.
std::vector<std::vector<std::string>> timed_parts(const SassFunction& function,
                                                  const std::string& opcode) {
  std::vector<std::vector<std::string>> parts;
  std::vector<std::string> part;
  bool inside = false, wanted = false;
  for (const std::string& line : function.lines) {
    if (reads_clock(line)) {
      if (inside && wanted) parts.push_back(part);
      part.clear();
      inside = true;
      wanted = false;
      continue;
    }
    wanted = wanted || line.starts_with(opcode);
    part.push_back(line);
  }
  return parts;
}

}  // namespace

TEST_CASE("between the clocks there is one access to a line and the store that needs it",
          "[sass][topology]") {
  const auto functions = disassemble_library("probe_topology_kernels");
  const std::pair<const char*, const char*> kinds[] = {{"0", "LDG.E.STRONG.GPU"},
                                                       {"1", "ATOMG.E.ADD.STRONG.GPU"}};
  for (const auto& [kind, opcode] : kinds) {
    const SassFunction& function =
        find(functions, std::string("line_latencies<(fathom::topology::LineAccess)") + kind + ">");
    CAPTURE(function.name);
    int brackets = 0;
    for (const auto& part : timed_parts(function, opcode)) {
      if (part.size() > 6) continue;  // from one bracket to the next, not inside one
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
  const SassFunction& loads =
      find(functions, "line_latencies<(fathom::topology::LineAccess)0>");
  CHECK(loads.count("LDG.E.STRONG.GPU") == 2);
}

TEST_CASE("SMs stream with accesses of 16 bytes, and wait with atomics", "[sass][topology]") {
  const auto functions = disassemble_library("probe_topology_kernels");
  const SassFunction& loads = find(functions, "contend<(fathom::topology::Traffic)0>");
  CHECK(loads.count("LDG.E.128.STRONG.GPU") >= 8);
  CHECK(loads.histogram("LDG").size() == 1);
  CHECK(loads.count("STG.E.128") == 0);
  const SassFunction& stores = find(functions, "contend<(fathom::topology::Traffic)1>");
  CHECK(stores.count("STG.E.128") >= 8);
  CHECK(stores.histogram("LDG").empty());
  for (const SassFunction* function : {&loads, &stores}) {
    CAPTURE(function->name);
    CHECK(function->count("ATOMG.E.OR") >= 4);
    CHECK(function->count("NANOSLEEP") >= 1);
  }
}
