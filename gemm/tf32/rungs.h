#pragma once

#include "gemm/rung.h"

namespace fathom::gemm::tf32 {

Rung wgmma();

}  // namespace fathom::gemm::tf32
