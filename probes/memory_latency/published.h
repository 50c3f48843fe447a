#pragma once

#include <optional>
#include <string>

#include "results/document.h"

namespace fathom::memory_latency {

/// What others have measured for a level of this very GPU, by its CUDA device name, in cycles.
std::optional<Expectation> published_latency(const std::string& device_name,
                                             const std::string& level,
                                             const std::string& instruction);

}  // namespace fathom::memory_latency
