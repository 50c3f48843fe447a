#include "probes/instructions/instructions.h"
#include "probes/instructions/kernels.h"
#include "tests/sass/sass_file.h"

using namespace fathom::instructions;

namespace {

/// "...::Ffma>(" or, of a kernel template's template argument, "...WgmmaF16<64, false> >(".
const SassFunction* find_kernel(const std::vector<SassFunction>& functions,
                                const std::string& kernel, const std::string& op) {
  const SassFunction* found = nullptr;
  for (const SassFunction& function : functions) {
    if (function.name.find(kernel + "<") == std::string::npos) continue;
    if (function.name.find("::" + op + ">(") == std::string::npos &&
        function.name.find("::" + op + " >(") == std::string::npos) {
      continue;
    }
    REQUIRE(found == nullptr);
    found = &function;
  }
  return found;
}

/// Steps that the machine code has, by the opcodes that one step becomes.
double steps_in(const SassFunction& function, const Instruction& instruction) {
  double steps = 0;
  for (const std::string& opcode : instruction.sass) steps += function.count(opcode);
  return steps;
}

void check(const std::vector<SassFunction>& functions, const Instruction& instruction) {
  CAPTURE(instruction.id);
  const Kernels& kernels = find_kernels(instruction.op);
  const auto check_kernel = [&](const std::string& kernel, const Shape& shape) {
    if (shape.chains == 0) return;
    CAPTURE(kernel);
    const SassFunction* function = find_kernel(functions, kernel, instruction.op);
    REQUIRE(function != nullptr);
    const double found = steps_in(*function, instruction);
    // What the chip that this build is for lacks is compiled to nothing.
    const int steps = (shape.short_steps + shape.steps + 1) * shape.chains;
    CAPTURE(found, steps);
    CHECK(found >= steps);
    // Padding, operands' own arithmetic and the kernel's barriers: nothing that would count as a
    // step.
    CHECK(found <= (instruction.sass[0] == "NOP" ? 1.5 : 1.03) * steps + 5);
  };
  check_kernel("latency_chain", kernels.latency);
  check_kernel("throughput_chains", kernels.throughput);
}

}  // namespace

// The compiler merges, splits and drops what it can: what is timed must be there as often as the
// count of steps says.
TEST_CASE("every instruction stands in its loops as often as it is counted",
          "[sass][instructions]") {
  const auto functions = disassemble_library("probe_instructions_kernels");
  // For other chips, what every chip has.
  const bool hopper = functions.front().for_hopper();
  const auto check_all = [&](const auto& instructions) {
    for (const Instruction& instruction : instructions) {
      if (hopper ? instruction.runs_on(9, 0) : instruction.since == 75)
        check(functions, instruction);
    }
  };
  check_all(arithmetic_instructions);
  check_all(warp_instructions);
  check_all(mma_instructions);
  check_all(wgmma_instructions);
}
