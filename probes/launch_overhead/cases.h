#pragma once

#include <string>
#include <vector>

#include "harness/cases.h"

namespace fathom::launch_overhead {

/// What the host's clock times; events and the kernels' global timer time the others.
std::vector<Case> host_cases(const DeviceFacts& device);

/// A case without `prepare`, whose metric is a time in seconds. Its axes: sweep, what, and `more`.
Case make_case(const char* sweep, const std::string& what, const Axes& more, Suite suite);

}  // namespace fathom::launch_overhead
