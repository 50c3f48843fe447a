#pragma once

#include "gemm/fp32/work_shares.h"
#include "gemm/rung.h"

// The warp-specialised kernel's tiles. m and n are those of
// the tile; it lies along C's rows or columns.

namespace fathom::gemm::fp32 {

struct FedChoice {
  int m, n;
  bool (*takes_sizes)(const Problem&);
  std::size_t (*copy_bytes)(const Problem&);  ///< of operands that are copied first
  std::size_t (*workspace_bytes)(const Problem&, int sms, Sharing);
  /// Any product whose sizes it takes. With shares, so many blocks as the workspace says that the GPU
  /// has SMs.
  void (*launch)(const Arguments&, const Workspace&, Sharing, cudaStream_t);
  RungKernel kernel;
};

/// Fed by the copy engine.
FedChoice engine_fed_128x256();
/// Fed by threads.
FedChoice thread_fed_128x256();

/// Computes any product by equal shares: fed by the copy engine where copying operands first costs little,
/// else by threads, and one that is smaller than their tile by its plan (gemm/fp32/tilings.h).
void launch_equal_shares(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream);
std::size_t equal_shares_bytes(const Problem& problem, int sms);

}  // namespace fathom::gemm::fp32
