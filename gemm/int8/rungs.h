#pragma once

#include "gemm/rung.h"

namespace fathom::gemm::int8 {

Rung wgmma();

}  // namespace fathom::gemm::int8
