#pragma once

#include "gemm/rung.h"

namespace fathom::gemm::fp32 {

/// Computes any product as rung 26 does; the workspace is that of the rung.
void launch_sliced_depth(const Arguments& arguments, const Workspace& workspace,
                         cudaStream_t stream);

}  // namespace fathom::gemm::fp32
