// Every SM has the same share of the work, whatever the product's shape.

#include <algorithm>

#include "gemm/blocks/streamed_launch.cuh"
#include "gemm/fp64/rungs.h"
#include "gemm/fp64/stream_k.h"
#include "gemm/fp64/tma_rung.cuh"
#include "gemm/fp64/types.h"

namespace fathom::gemm::fp64 {
namespace {

/// For products that the tensor cores bound.
struct StreamK {
  static constexpr KernelConfig config{.cluster_n = 2, .stream_k = true};
};
/// For products of few rows, which the memory bus bounds: no more rows than there are are
/// multiplied, and the ring keeps the bus busy.
struct Rows16 {
  static constexpr KernelConfig config{.warps_m = 1,
                                       .warps_n = 8,
                                       .m_blocks = 1,
                                       .n_blocks = 2,
                                       .stages = 5,
                                       .band = 1,
                                       .stream_k = true};
};
/// For most of those: the large operand streams by, as long runs.
struct Streamed {
  static constexpr StreamedKernelConfig config{.stages = 4, .cluster = 4, .evict_first = true};
};
struct Rows64 {
  static constexpr KernelConfig config{.warps_m = 2,
                                       .warps_n = 4,
                                       .m_blocks = 2,
                                       .n_blocks = 4,
                                       .stages = 8,
                                       .band = 1,
                                       .stream_k = true};
};

}  // namespace

bool takes_stream_k(const Problem& p) { return takes_streamed<Types>(p) || copied_bytes(p) == 0; }

bool has_few_rows(const Problem& p) { return std::min(p.m, p.n) <= Rows64::config.m(); }

void launch_stream_k(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const Problem& p = arguments.problem;
  const std::int64_t small_side = std::min(p.m, p.n);
  const bool swapped = p.n < p.m;  // the tiles' rows go along the small side
  if (takes_streamed<Types>(p))
    return launch_streamed<Streamed, Types>(arguments, workspace, stream);
  if (small_side <= Rows16::config.m())
    return launch_tma_product<Rows16>(arguments, workspace, swapped, stream);
  if (small_side <= Rows64::config.m())
    return launch_tma_product<Rows64>(arguments, workspace, swapped, stream);
  launch_tma_product<StreamK>(arguments, workspace, false, stream);
}

Rung stream_k() {
  Rung rung = shape_rung<StreamK>("07_stream_k");
  rung.idea =
      "Of the tiles that do not fill a whole wave each worker gets an equal share of all their k; "
      "who begins a tile adds up, in order, what others have summed of it. For few rows, tiles of "
      "16 or 64; and where the large operand of 16 lies along k, it streams by in runs of 2 KiB.";
  rung.gain =
      "1024 tiles on 132 SMs take the time of 7.76 waves instead of 8, and 4096 that of 31.03 "
      "instead of 32: 3 % each. A skinny product occupies every SM.";
  rung.launch = &launch_stream_k;
  rung.takes_own_path = &takes_stream_k;
  return rung;
}

}  // namespace fathom::gemm::fp64
