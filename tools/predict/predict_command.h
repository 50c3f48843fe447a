#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/command_line.h"

namespace fathom {

/// `fathom predict` with `shared`, `global`, ...: what should happen, computed without a GPU.
Command predict_command();

// Each adds the flags and the examples of one of its commands, which prints the prediction on
// standard output, or throws. A std::invalid_argument of a model becomes Error(bad_input) with the
// model's sentence.
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
