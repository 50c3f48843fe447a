#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/cases.h"

namespace fathom::launch_overhead {

// The cases of the sweep, by who keeps the time. Each file's name says which.

std::vector<Case> grid_cases(const DeviceFacts& device);   ///< events of the harness
std::vector<Case> chain_cases(const DeviceFacts& device);  ///< the kernels' global timer
std::vector<Case> host_cases(const DeviceFacts& device);   ///< the host's clock

/// A case without `prepare`, whose metric is a time in seconds. Its axes: sweep, what, and `more`.
Case make_case(const char* sweep, const std::string& what, const Axes& more, Suite suite);

}  // namespace fathom::launch_overhead
