#pragma once

#include "gemm/rung.h"

namespace fathom::gemm::tf32 {

Rung wgmma();
Rung a_in_registers();
Rung large_clusters();

/// The launch of the first rung, which the others use for what their own kernels are not made for.
void launch_wgmma(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream);

}  // namespace fathom::gemm::tf32
