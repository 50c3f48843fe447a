#pragma once

#include "tests/sass/sass_file.h"

// What makes each rung of the matrix-product ladder what it is, in the machine code:
// gemm_rungs_sass_test.cpp fails for a rung without a row, and for a kernel that no row is about.
// The probes' kernels have rows too, in probe_code_test.cpp.

/// One kernel of a rung, in all its layouts, or of a probe.
struct RungCode {
  std::string rung;    ///< its identifier; "half/05_wgmma" stands for fp16's and bf16's
  std::string kernel;  ///< parts of its demangled name, in order, with '*' between
  int kernels;         ///< of that name
  /// Opcodes, of which `SassFunction::count` finds some, or as many as is said:
  /// "LDS.128 FFMA>=512 BAR=2 MEMBAR.ALL.GPU<=2". "RED|REDG=1" is one of either, "LDG=LDG.E.128" as
  /// many of both, "LDS!=4" four without a modifier, and "LDG*.128" has that somewhere behind.
  std::string has;
  std::string lacks;  ///< opcodes that must not be there
  /// Most that leave an SM room for its blocks; 0: all that a thread can have do.
  int registers = 0;
  std::string in_a_row = "";  ///< "LDG.E.128>=4": the longest run without an addition or a branch
  std::string order = "";     ///< "EXIT LDS": where each stands first, these texts come so
  int since = 0;              ///< compute capability, 10 x major + minor, of which it is true
  bool hopper = false;        ///< whether it is true of Hopper alone
};

/// The contenders' rows, and the lessons'.
const std::vector<RungCode>& contender_codes();
const std::vector<RungCode>& lesson_codes();

/// Whether a row is about the kernel, which is of the row's folder.
bool is_about(const RungCode& code, const SassFunction& kernel);
/// Checks a row against the kernels that it is about; `is_for`: whether it says something of the
/// code for a kernel's architecture.
void check_code(const RungCode& code, const std::vector<SassFunction>& kernels,
                const std::function<bool(const SassFunction&)>& is_for);
