#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/sass/sass_file.h"

namespace {

/// Where the first instruction with this opcode stands; -1 if nowhere.
int position(const SassFunction& function, const std::string& opcode) {
  for (std::size_t i = 0; i < function.lines.size(); ++i) {
    if (function.lines[i].starts_with(opcode)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

TEST_CASE("empty kernels have nothing to do", "[sass][launch_overhead]") {
  const auto functions = disassemble_library("probe_launch_overhead_kernels");
  int empties = 0;
  for (const SassFunction& function : functions) {
    const bool empty = function.name.find("::empty(") != std::string::npos ||
                       function.name.find("with_arguments<") != std::string::npos;
    if (!empty) continue;
    CAPTURE(function.name);
    ++empties;
    // At most the load of the stack's address, which older compilers always put there.
    CHECK(position(function, "EXIT") <= 1);
    CHECK(position(function, "EXIT") >= 0);
  }
  CHECK(empties == 7);
}

TEST_CASE("a dependent kernel waits and lets the next come before it reads its timer",
          "[sass][launch_overhead]") {
  const auto functions = disassemble_library("probe_launch_overhead_kernels");
  const SassFunction& link = find(functions, "::link(");
  const int wait = position(link, "ACQBULK"), trigger = position(link, "PREEXIT");
  CHECK(link.count("STG") == 2);
  if (wait < 0 && trigger < 0) return;  // built for a chip without programmatic dependent launch
  CHECK(link.count("ACQBULK") == 1);
  CHECK(link.count("PREEXIT") == 1);
  CHECK(wait < trigger);
  int timer = -1;
  for (std::size_t i = 0; i < link.lines.size() && timer < 0; ++i) {
    if (link.lines[i].find("SR_GLOBALTIMERLO") != std::string::npos) timer = static_cast<int>(i);
  }
  CHECK(timer > trigger);
}
