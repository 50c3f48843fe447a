#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/device_facts.h"
#include "harness/gpu_checks.h"

namespace fathom {

/// Facts as `fathom-device --facts` prints them: names and units as in DeviceFacts; what is not
/// known is null.
nlohmann::ordered_json to_json(const DeviceFacts& facts);

/// {"checks": [{id, status, gpu, what, detail, what_to_do}], "fail": n, "warn": n}
nlohmann::ordered_json to_json(const std::vector<Check>& checks);

}  // namespace fathom
