#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "results/exit_codes.h"

namespace fathom {

/// Each adds the flags and the examples of one `fathom predict` subcommand to its `app` and returns
/// what it does once the flags are parsed: prints the prediction on standard output, or throws.
/// A std::invalid_argument of a model becomes Error(bad_input) with the model's sentence. The
/// parsed flags live in what is returned (a shared_ptr), since that outlives the parsing.
std::function<ExitCode()> add_predict_shared(CLI::App& app);
std::function<ExitCode()> add_predict_global(CLI::App& app);
std::function<ExitCode()> add_predict_occupancy(CLI::App& app);
std::function<ExitCode()> add_predict_waves(CLI::App& app);
std::function<ExitCode()> add_predict_roofline(CLI::App& app);
std::function<ExitCode()> add_predict_swizzle(CLI::App& app);
std::function<ExitCode()> add_predict_transformer(CLI::App& app);

}  // namespace fathom
