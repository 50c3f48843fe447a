#pragma once

#include <optional>

#include "gemm/fp32/work_shares.h"
#include "gemm/rung.h"

// The warp-specialised kernel's tiles. Seen row-major: m and n here are the problem's n and m.

namespace fathom::gemm::fp32 {

struct FedChoice {
  int m, n;
  bool (*takes_sizes)(const Problem&);
  bool (*copies)(const Problem&);  ///< whether operands are copied first
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
FedChoice thread_fed_256x128();

/// Of the tiles fed by threads the one that reaches less beyond C; nothing for a product that is
/// smaller than both, or none.
std::optional<FedChoice> fed_choice_of(const Problem& problem);
/// Computes any product by equal shares of that tile, or by its plan (gemm/fp32/tilings.h).
void launch_equal_shares(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream);
std::size_t equal_shares_bytes(const Problem& problem, int sms);

}  // namespace fathom::gemm::fp32
