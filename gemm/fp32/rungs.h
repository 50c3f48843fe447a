#pragma once

#include "gemm/rung.h"

// The fp32 ladder, one function per rung and file, in order.

namespace fathom::gemm::fp32 {

Rung naive();
Rung coalesced();
Rung shuffle_broadcast();

}  // namespace fathom::gemm::fp32
