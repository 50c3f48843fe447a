#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/probe.h"

namespace fathom::gemm {

/// The claims that the ladders answer.
std::vector<std::string> claim_ids();

Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::gemm
