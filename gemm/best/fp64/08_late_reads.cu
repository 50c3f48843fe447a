// fp64's contender: every SM has the same share of the work, whatever the product's shape, and the
// order of reads and products is the source's, not the compiler's.

#include <algorithm>

#include "gemm/best/contenders.h"
#include "gemm/best/fp64/tma_launch.cuh"
#include "gemm/blocks/streamed_launch.cuh"

namespace fathom::gemm::fp64 {

/// fp64 throughout.
struct Types {
  using In = double;
  using Out = double;
  using Scalar = double;
};

namespace {

/// Tiles for products that the tensor cores bound.
struct LateReads {
  static constexpr KernelConfig config{.cluster_n = 2, .late_reads = true};
};
/// For products of few rows: no more than there are are multiplied, and the ring keeps the memory
/// bus busy.
struct Rows64 {
  static constexpr KernelConfig config{.warps_m = 2,
                                       .warps_n = 4,
                                       .m_blocks = 2,
                                       .n_blocks = 4,
                                       .stages = 8,
                                       .band = 1};
};
struct Rows16 {
  static constexpr KernelConfig config{.warps_m = 1,
                                       .warps_n = 8,
                                       .m_blocks = 1,
                                       .n_blocks = 2,
                                       .stages = 5,
                                       .band = 1};
};
/// For most of those: the large operand streams by, as long runs.
struct Streamed {
  static constexpr StreamedKernelConfig config{.stages = 4, .cluster = 4, .evict_first = true};
};

/// What is done with a product. It is decided once: the launch, the workspace and the report read
/// the plan.
struct Plan {
  enum class Path {
    tiles,     ///< by the rung's own kernel
    rows64,    ///< by tiles of 64 rows, for products that the memory bus bounds
    rows16,    ///< by tiles of 16
    streamed,  ///< the large operand of at most 16 rows streams by
  };
  Path path = Path::tiles;
  bool swapped = false;           ///< the tiles' rows lie along C's columns
  std::size_t partial_bytes = 0;  ///< for the sums that workers leave each other
  std::size_t copied_bytes = 0;   ///< for lines of operands that are copied first
};

/// On a GPU of so many SMs.
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
  return {tiles, false, stream_bytes<LateReads::config>(sms), copied};
}

void launch_late_reads(const Arguments& arguments, const Workspace& workspace,
                       cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const Plan planned = plan(arguments.problem, workspace.sms);
  switch (planned.path) {
    case Plan::Path::streamed:
      return launch_streamed<Streamed, Types>(arguments, workspace, stream);
    case Plan::Path::rows16:
      return launch_tma_product<Rows16>(arguments, workspace, planned.swapped, stream);
    case Plan::Path::rows64:
      return launch_tma_product<Rows64>(arguments, workspace, planned.swapped, stream);
    case Plan::Path::tiles:
      return launch_tma_product<LateReads>(arguments, workspace, planned.swapped, stream);
  }
}

}  // namespace

Rung late_reads() {
  using Kernel = TmaKernel<LateReads, Major::outer, Major::k>;
  constexpr KernelConfig d = LateReads::config;
  Rung rung;
  rung.name = "08_late_reads";
  rung.of = Class::fp64;
  rung.idea =
      "Fragments are read into registers that a product took at least one product ago, in an "
      "order that the compiler cannot change. Of the tiles that do not fill a whole wave each "
      "worker gets an equal share of all their k; who begins a tile adds up, in order, what others "
      "have summed of it. For few rows, tiles of 16 or 64; and where the large operand of 16 lies "
      "along k, it streams by in runs of 2 KiB.";
  rung.gain =
      "A read into registers that the last product still takes waits for it, and the next product "
      "waits behind the read. 1024 tiles on 132 SMs take the time of 7.76 waves instead of 8, and "
      "4096 that of 31.03 instead of 32: 3 % each. A skinny product occupies every SM.";
  rung.capability = 90;
  rung.exact_capability = true;
  rung.contender = true;
  // A KernelConfig is in BLAS's terms, a rung's kernel in row-major ones.
  rung.kernel = RungKernel{reinterpret_cast<const void*>(&tma_product<Kernel>),
                           d.threads(),
                           d.shared_bytes(),
                           d.m(),
                           d.n(),
                           stage_depth,
                           0,
                           1,
                           d.cluster_n}
                    .transposed();
  rung.launch = &launch_late_reads;
  // Which operands are copied is the same on every GPU.
  rung.takes_own_path = [](const Problem& p) { return plan(p, 1).copied_bytes == 0; };
  rung.workspace_bytes = [](const Problem& p, int sms) {
    const Plan planned = plan(p, sms);
    return planned.partial_bytes + planned.copied_bytes;
  };
  static const RungKernel kernel = rung.kernel;
  rung.kernel_for = [](const Problem& p, int sms) {
    return plan(p, sms).path == Plan::Path::tiles ? kernel : RungKernel{};
  };
  return rung;
}

}  // namespace fathom::gemm::fp64
