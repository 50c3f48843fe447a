#pragma once

#include <filesystem>
#include <functional>

#include "reports/compare.h"
#include "results/error.h"

namespace CLI {
class App;
}

namespace fathom {

// `fathom compare`, which reads Fathom's documents itself and hands those of other tools over to
// fathom-gate, in words that both share.

inline constexpr const char* compare_summary = "Two results side by side, of any GPUs";

struct CompareArguments {
  std::filesystem::path a, b;            ///< results
  std::filesystem::path markdown, json;  ///< files to write; empty: none
};

void add_compare_flags(CLI::App& app, CompareArguments& arguments);

/// Prints the comparison and writes it to the files; their paths are checked before `compare` is
/// called. Ok whatever differs.
ExitCode tell_comparison(const CompareArguments& arguments,
                         const std::function<reports::Comparison()>& compare);

}  // namespace fathom
