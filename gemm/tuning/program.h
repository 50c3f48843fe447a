#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gemm/tuning/compare.h"

namespace fathom::gemm {

/// What one tuning program is about.
struct TuningProgram {
  std::string description;
  std::vector<Class> classes;  ///< of which it has variants, the usual one first
  /// Variants of one of them. `promoted`: of fp8, those whose sums keep all bits.
  std::function<std::vector<Trial>(Class of, bool promoted)> variants;
  /// m, n and k of the products that are timed where the command line names none.
  std::vector<std::array<std::int64_t, 3>> contested = goals();

  /// The products that the ladder's goals name: square, odd and skinny.
  static std::vector<std::array<std::int64_t, 3>> goals();
};

/// The tuning programs' main: reads the command line (--help says what it takes) and compares or
/// checks the variants that it asks for. Returns the exit code.
int run_tuning(const TuningProgram& program, int argc, char** argv);

}  // namespace fathom::gemm
