#pragma once

#include "gemm/rung.h"

// What rungs after 07 have from it: the same shares of the work, and products of few rows.

namespace fathom::gemm::fp64 {

/// Computes any product by stream-K; the workspace is that of the rung.
void launch_stream_k(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream);

/// Whether it does so without a fallback.
bool takes_stream_k(const Problem& p);

/// Whether C has so few rows or columns that tiles made for that serve it better.
bool has_few_rows(const Problem& p);

}  // namespace fathom::gemm::fp64
