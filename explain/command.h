#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "explain/analysis.h"
#include "tools/command_line.h"

namespace fathom::explain {

/// What `fathom explain` needs beside the program that it looks into. Absent: an empty path.
struct Tools {
  std::filesystem::path injection;  ///< the library of inject.cpp, its patch beside it
  std::filesystem::path sanitizer;  ///< Compute Sanitizer's library
  FindLine find_line = [](const auto&, const auto&, auto) { return std::nullopt; };
  std::filesystem::path measure{};  ///< the library of measure.cpp
  std::filesystem::path cupti{};    ///< the folder of CUPTI's library
};

struct ExplainArguments {
  std::vector<std::string> program;  ///< and its arguments
  std::string kernel;                ///< a regular expression; empty: all
  std::uint64_t launches = 3;        ///< of each kernel
  std::uint64_t blocks = 64;         ///< of each launch; 0: all
  bool counters = false;             ///< run the program twice more and measure it with CUPTI
  std::filesystem::path bounds;      ///< a result of the suite atlas; empty: this GPU's recording
  std::string format = "text";       ///< or "md", "json"
  std::filesystem::path out;         ///< empty: standard error, after what the program wrote
};

/// Runs the program and writes what its kernels' accesses cost. Gives back the program's own exit
/// status, or 128 + the signal that ended it; of a program that ended well but left nothing to
/// explain `incomplete`. Throws Error before the program starts if something is missing.
ExitCode explain_command(const ExplainArguments& arguments, const Tools& tools);

/// What the program fathom-explain has. `program`: the words after `--`.
std::vector<Command> explain_commands(const Tools& tools = {},
                                      const std::vector<std::string>& program = {});

}  // namespace fathom::explain
