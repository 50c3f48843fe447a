#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fleet/gpu_summary.h"
#include "results/json_fields.h"

namespace fathom::fleet {

/// A GPU's summary without its metrics, as gpu.json and fleet.json have it.
nlohmann::ordered_json to_json(const GpuSummary& summary);

/// Throws Error(document_version) unless the document's member `key` has this version of `what`.
void require_version(const Fields& own, std::string_view key, int expected, const char* what);

}  // namespace fathom::fleet
