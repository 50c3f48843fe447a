#pragma once

#include <vector>

#include "gemm/request.h"
#include "harness/device_facts.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// The ladders' cases on this GPU: every rung that it can run, unless the request says otherwise.
std::vector<Case> ladder_cases(const DeviceFacts& device, const Request& request);

}  // namespace fathom::gemm
