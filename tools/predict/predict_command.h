#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/command.h"

namespace fathom {

/// Adds `shared`, `global`, ... to `fathom predict`: what should happen, computed without a GPU.
Commands add_predict(CLI::App& predict);

// Each adds the flags and the examples of one subcommand, which prints the prediction on standard
// output, or throws. A std::invalid_argument of a model becomes Error(bad_input) with the model's
// sentence.
AddCommand shared_prediction();
AddCommand global_prediction();
AddCommand occupancy_prediction();
AddCommand waves_prediction();
AddCommand roofline_prediction();
AddCommand swizzle_prediction();
AddCommand transformer_prediction();

/// For --json, where it is how a prediction ends.
ExitCode print_json(const nlohmann::ordered_json& answer);

}  // namespace fathom
