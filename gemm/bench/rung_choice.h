#pragma once

#include <vector>

#include "gemm/bench/request.h"
#include "gemm/bench/rung.h"
#include "harness/device_facts.h"

// Which rungs are measured where.

namespace fathom::gemm {

/// The rungs that the request asks for and this GPU runs, in order. Throws Error(bad_input) for one
/// that was named and does not run on it, and where none is left.
std::vector<const Rung*> wanted_rungs(const DeviceFacts& device, const Request& request);

/// Whether a rung that this GPU runs is held against the vendor's library there: a contender by
/// itself, or where the GPU runs none of its class the last one that it does run.
bool contends(const Rung& rung, const DeviceFacts& device);

/// The last contender of each class among the rungs: the top of its ladder.
std::vector<const Rung*> tops(const std::vector<const Rung*>& rungs, const DeviceFacts& device);

/// The contenders among the rungs that no later one supersedes: one of the same class that is held
/// against the library in the same mode. Under lasting load a rung takes fourteen seconds, so that
/// only these are measured there.
std::vector<const Rung*> last_contenders(const std::vector<const Rung*>& rungs,
                                         const DeviceFacts& device);

}  // namespace fathom::gemm
