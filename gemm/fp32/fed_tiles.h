#pragma once

#include "gemm/engine_operands.h"
#include "gemm/fp32/work_shares.h"
#include "gemm/rung.h"

// The warp-specialised kernel's tiles. Seen row-major: m and n here are the problem's n and m.

namespace fathom::gemm::fp32 {

struct FedChoice {
  int m, n;
  MajorsTaken majors;  ///< how operands are taken as they lie
  std::size_t (*workspace_bytes)(const Problem&, int sms, Sharing);
  /// Any product. With shares, so many blocks as the workspace says that the GPU has SMs.
  void (*launch)(const Arguments&, const Workspace&, Sharing, cudaStream_t);
  RungKernel kernel;
};

FedChoice fed_128x256();
FedChoice fed_256x128();

}  // namespace fathom::gemm::fp32
