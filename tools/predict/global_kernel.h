#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/exit_codes.h"
#include "tools/predict/pattern_flags.h"

namespace fathom {

/// One direction of a whole kernel, or both of a transpose, as the command line describes it.
struct KernelFlags {
  std::string pattern;  ///< "stream", "aos" or "transpose"; empty: one warp access
  std::uint64_t elements = 0;
  int threads = 256;
  std::uint64_t struct_bytes = 0, member_offset = 0, member_bytes = 0;  ///< aos
  std::string matrix;                                                   ///< "4096x4096"
  int tile = 32;
  bool naive = false;  ///< a transpose not through shared memory
  /// Options, and the patterns that they are of.
  std::vector<std::pair<const CLI::Option*, const char*>> meant_for;
};

/// Adds the flags; returns the option that asks for a whole kernel.
CLI::Option* add_kernel_flags(CLI::App& app, KernelFlags& flags);

/// `access`: what the flags shared with a single access say.
ExitCode predict_kernel(const KernelFlags& flags, const PatternFlags& access);

}  // namespace fathom
