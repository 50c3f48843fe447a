#pragma once

#include <memory>
#include <optional>

#include "gemm/verification.h"
#include "harness/device_facts.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// The vendor's library, as it is called by default, on a product by itself and with counters: what
/// the ladder's claims compare their traffic with. Nothing where there is no library. The counters
/// are those that say how much moved, and where.
std::optional<Case> library_case(const DeviceFacts& device, const Problem& problem,
                                 const std::shared_ptr<ReferenceStore>& references);

}  // namespace fathom::gemm
