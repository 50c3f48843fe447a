#pragma once

#include "tests/testing.h"

/// How an instruction waits for others, by the upper bits of its 128 (from Volta on; Z. Jia et al.,
/// "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, section 2.1).
struct Scoreboards {
  static constexpr int none = 7;
  int written = none;    ///< the scoreboard, of six, that its result counts down
  unsigned awaited = 0;  ///< a bit for each that it waits for
};

/// One kernel's machine code.
struct SassFunction {
  std::string name;                       ///< demangled
  std::vector<std::string> instructions;  ///< opcodes with modifiers, in order: "LDG.E.128"
  int registers = 0;
  std::string architecture;        ///< that it was compiled for: "sm_90a"
  std::vector<std::string> lines;  ///< the instructions with operands: "LDG.E.128 R4, [R2.64]"
  std::vector<Scoreboards> scoreboards;  ///< of the same instructions

  /// Instructions whose opcode is `prefix` or begins with it and a dot.
  int count(const std::string& opcode) const;
  /// Its architecture, 10 x major + minor.
  int capability() const;
  /// Whether it may use what Hopper alone has. Says nothing about whether it does.
  bool for_hopper() const { return architecture == "sm_90a"; }
};

/// What one kernel takes, for one architecture.
struct KernelResources {
  std::string name;  ///< mangled
  int registers, stack_bytes, local_bytes;
};

/// That of every kernel in an object, static library or program, without its code.
std::vector<KernelResources> resources_of(const std::string& file);

/// Disassembles a kernel library of this build, by its target's name, with cuobjdump; throws
/// std::runtime_error if that fails or finds no kernel.
std::vector<SassFunction> disassemble_library(const std::string& target);

/// The same of the contenders' files whose name contains `file`: of a folder of gemm/best, "fp64",
/// or the one file that has its name, "fp8", or where that is empty of all beside the folders. All
/// of them take half a minute. Kept, so that a test may ask for it again.
const std::vector<SassFunction>& disassemble_ladder(const std::string& folder,
                                                    const std::string& file = "");

std::string demangle(const std::string& mangled);

/// The functions whose demangled name contains `part`; throws std::runtime_error where there are
/// not so many.
std::vector<const SassFunction*> find_all(const std::vector<SassFunction>& functions,
                                          const std::string& part, std::size_t count);
/// The same of one.
const SassFunction& find(const std::vector<SassFunction>& functions, const std::string& part);
