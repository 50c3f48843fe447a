#pragma once

#include "gemm/rung.h"

namespace fathom::gemm::tf32 {

Rung a_in_registers();
Rung large_clusters();

/// Multiplies operands along k, and copies others first: in tiles of 128 x 256, of skinny products
/// in narrow ones.
void launch_along_k(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream);

}  // namespace fathom::gemm::tf32
