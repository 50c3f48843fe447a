// What no row of probe_code_test.cpp says: whole loops, registers and sizes.

#include "kernel_libraries.h"
#include "probes/energy/kernels.h"
#include "probes/memory_bandwidth/kernels.h"
#include "tests/sass/sass_file.h"

// Spilled registers are memory traffic that no model counts. They lie in the stack frame, as arrays
// do that are not in registers: a kernel without one has no LDL and no STL.
TEST_CASE("no kernel of ours spills or keeps a stack frame", "[sass]") {
  int kernels = 0;
  for (const char* library : kernel_libraries) {
    for (const KernelResources& kernel : resources_of(library)) {
      CAPTURE(library, kernel.name);
      CHECK(kernel.registers > 0);
      CHECK(kernel.stack_bytes == 0);
      CHECK(kernel.local_bytes == 0);
      ++kernels;
    }
  }
  CHECK(kernels > 20);
}

TEST_CASE("empty kernels and threads at rest have next to nothing to do", "[sass]") {
  int empties = 0;
  for (const SassFunction& function : disassemble_library("probe_launch_overhead_kernels")) {
    if (function.name.find("::empty(") == std::string::npos &&
        function.name.find("with_arguments<") == std::string::npos)
      continue;
    CAPTURE(function.name);
    ++empties;
    // At most the load of the stack's address, which older compilers always put there.
    CHECK(std::ranges::find(function.instructions, "EXIT") - function.instructions.begin() <= 1);
  }
  CHECK(empties == 7);
  CHECK(find(disassemble_library("probe_energy_kernels"), "::rest(").instructions.size() < 40);
}

TEST_CASE("a walk adds up all that it loads, a turn of the loop at a time", "[sass][energy]") {
  const auto functions = disassemble_library("probe_energy_kernels");
  for (const char* level : {"walk_chunks<(fathom::energy::Level)1>", "(fathom::energy::Level)2>"}) {
    // Between the last load and the branch behind it.
    int additions = 0, loads = 0;
    for (const std::string& instruction : find(functions, level).instructions) {
      if (instruction.starts_with("LDG")) ++loads, additions = 0;
      if (loads > 0 && instruction.starts_with("BRA")) break;
      additions += instruction.starts_with("IADD3");
    }
    CAPTURE(level);
    CHECK(additions == 2 * fathom::energy::loads_per_turn);
  }
}

TEST_CASE("the register stream is multiply-adds of three vector registers without reuse",
          "[sass][memory_bandwidth]") {
  using namespace fathom::memory_bandwidth;
  const auto functions = disassemble_library("probe_memory_bandwidth_kernels");
  int multiply_adds = 0, reused = 0, uniform = 0;
  for (const std::string& line : find(functions, "read_registers(").lines) {
    if (!line.starts_with("FFMA")) continue;
    ++multiply_adds;
    reused += line.find(".reuse") != std::string::npos;
    uniform += line.find("UR") != std::string::npos || line.find("c[") != std::string::npos;
  }
  CHECK(multiply_adds >= register_steps * register_chains);
  CHECK(multiply_adds <= register_steps * register_chains + register_chains);
  CHECK(reused <= register_chains);  // in what is around the loop
  CHECK(uniform <= register_chains);
}

TEST_CASE("the kernels asked for their occupancy take different registers",
          "[sass][model_validation]") {
  std::map<int, int> registers;
  for (const SassFunction& function : disassemble_library("probe_model_validation_kernels")) {
    if (function.name.find("occupant<") != std::string::npos) ++registers[function.registers];
  }
  CHECK(registers.size() >= 12);
  CHECK(registers.begin()->first <= 32);
  CHECK(registers.rbegin()->first >= 160);
}
