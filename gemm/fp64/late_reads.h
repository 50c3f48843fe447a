#pragma once

#include "gemm/rung.h"

namespace fathom::gemm::fp64 {

/// Computes any product as rung 08 does; the workspace is that of the rung.
void launch_late_reads(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream);

}  // namespace fathom::gemm::fp64
