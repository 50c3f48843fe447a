#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "tools/child_process.h"

namespace fathom {

/// Waits until all have ended: each is told to stop at the limit, and killed after `grace`. The
/// first interrupt is passed on to all, the second kills them.
std::vector<SupervisedEnd> supervise_all(std::vector<std::unique_ptr<ChildProcess>>& children,
                                         SignalInbox& inbox, std::chrono::milliseconds limit,
                                         std::chrono::milliseconds grace);

}  // namespace fathom
