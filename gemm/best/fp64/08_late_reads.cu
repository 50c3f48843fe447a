// fp64's contender: every SM has the same share of the work, whatever the product's shape, and the
// order of reads and products is the source's, not the compiler's.

#include <algorithm>

#include "gemm/best/contenders.h"
#include "gemm/best/fp64/tma_launch.cuh"
#include "gemm/best/plan.h"
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
  static constexpr KernelConfig config{
      .warps_m = 2, .warps_n = 4, .m_blocks = 2, .n_blocks = 4, .stages = 8, .band = 1};
};
struct Rows16 {
  static constexpr KernelConfig config{
      .warps_m = 1, .warps_n = 8, .m_blocks = 1, .n_blocks = 2, .stages = 5, .band = 1};
};
/// For most of those: the large operand streams by, as long runs.
struct Streamed {
  static constexpr StreamedKernelConfig config{.stages = 4, .cluster = 4, .evict_first = true};
};

/// What the rung reports where its own tiles do a product. A KernelConfig is in BLAS's terms, a
/// rung's kernel in row-major ones.
RungKernel own_kernel() {
  using Kernel = TmaKernel<LateReads, Major::outer, Major::k>;
  constexpr KernelConfig d = LateReads::config;
  return RungKernel{reinterpret_cast<const void*>(&tma_product<Kernel>),
                    d.threads(),
                    d.shared_bytes(),
                    d.m(),
                    d.n(),
                    stage_depth,
                    0,
                    1,
                    d.cluster_n}
      .transposed();
}

template <class Shape, bool swapped>
void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  launch_tma_product<Shape>(arguments, workspace, swapped, stream);
}

RungPlan plan(const Problem& p, int sms) {
  if (takes_streamed<Types>(p)) return {&launch_streamed<Streamed, Types>};
  const std::size_t copied = copied_bytes(p);
  const auto by_rows = [&]<class Shape>(Shape) -> RungPlan {
    // The tiles' rows go along the small side.
    return {p.n < p.m ? &launch<Shape, true> : &launch<Shape, false>,
            stream_bytes<Shape::config>(sms) + copied,
            {},
            copied == 0};
  };
  if (std::min(p.m, p.n) <= Rows16::config.m()) return by_rows(Rows16{});
  if (std::min(p.m, p.n) <= Rows64::config.m()) return by_rows(Rows64{});
  return {&launch<LateReads, false>, stream_bytes<LateReads::config>(sms) + copied, own_kernel(),
          copied == 0};
}

}  // namespace

Rung late_reads() {
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
  rung.kernel = own_kernel();
  follow_plan<plan>(rung);
  return rung;
}

}  // namespace fathom::gemm::fp64
