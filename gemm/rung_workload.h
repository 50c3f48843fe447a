#pragma once

#include <memory>

#include "gemm/rung.h"
#include "gemm/tuning.h"
#include "gemm/verification.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// A rung's product on the GPU, ready to be verified and timed: in the variant that was tuned for it, where
/// there is one. Its extras say the kernel's registers, shared memory, warps and waves, and how accurate C
/// was; its notes which variant ran.
Workload rung_workload(Context& context, const Rung& rung, const Problem& problem,
                       const std::shared_ptr<ReferenceStore>& references,
                       const std::shared_ptr<Tuning>& tuning);

}  // namespace fathom::gemm
