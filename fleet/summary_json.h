#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fleet/gpu_summary.h"

namespace fathom::fleet {

// Parts of a GPU's summary as gpu.json and fleet.json have them.
nlohmann::ordered_json to_json(const Settings& settings);
nlohmann::ordered_json to_json(const Health& health);
nlohmann::ordered_json to_json(const PhaseTimes& elapsed);

}  // namespace fathom::fleet
