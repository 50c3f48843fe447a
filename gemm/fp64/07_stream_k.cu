// Every SM has the same share of the work, whatever the product's shape.

#include <algorithm>

#include "gemm/blocks/streamed_launch.cuh"
#include "gemm/fp64/plan.cuh"
#include "gemm/fp64/rungs.h"
#include "gemm/fp64/types.h"

namespace fathom::gemm::fp64 {
namespace {

struct StreamK {
  static constexpr KernelConfig config = tiles_config;
};
/// For products of few rows: no more than there are are multiplied, and the ring keeps the memory
/// bus busy.
struct Rows64 {
  static constexpr KernelConfig config{.warps_m = 2,
                                       .warps_n = 4,
                                       .m_blocks = 2,
                                       .n_blocks = 4,
                                       .stages = 8,
                                       .band = 1,
                                       .stream_k = true};
};
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

}  // namespace

Plan plan(const Problem& p, int sms) {
  using enum Plan::Path;
  if (takes_streamed<Types>(p)) return {.path = streamed};
  const std::size_t copied = copied_bytes(p);
  const std::int64_t small_side = std::min(p.m, p.n);
  const bool swapped = p.n < p.m;  // the tiles' rows go along the small side
  if (small_side <= Rows16::config.m())
    return {rows16, swapped, stream_bytes<Rows16::config>(sms), copied};
  if (small_side <= Rows64::config.m())
    return {rows64, swapped, stream_bytes<Rows64::config>(sms), copied};
  return {tiles, false, stream_bytes<tiles_config>(sms), copied};
}

void launch_few_rows(const Plan& plan, const Arguments& arguments, const Workspace& workspace,
                     cudaStream_t stream) {
  switch (plan.path) {
    case Plan::Path::streamed:
      return launch_streamed<Streamed, Types>(arguments, workspace, stream);
    case Plan::Path::rows16:
      return launch_tma_product<Rows16>(arguments, workspace, plan.swapped, stream);
    case Plan::Path::rows64:
      return launch_tma_product<Rows64>(arguments, workspace, plan.swapped, stream);
    case Plan::Path::tiles:
      return;
  }
}

Rung stream_k() {
  Rung rung = planned_rung<StreamK>("07_stream_k");
  rung.idea =
      "Of the tiles that do not fill a whole wave each worker gets an equal share of all their k; "
      "who begins a tile adds up, in order, what others have summed of it. For few rows, tiles of "
      "16 or 64; and where the large operand of 16 lies along k, it streams by in runs of 2 KiB.";
  rung.gain =
      "1024 tiles on 132 SMs take the time of 7.76 waves instead of 8, and 4096 that of 31.03 "
      "instead of 32: 3 % each. A skinny product occupies every SM.";
  return rung;
}

}  // namespace fathom::gemm::fp64
