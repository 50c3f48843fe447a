// fp64's contender: every SM has the same share of the work, whatever the product's shape, and the
// order of reads and products is the source's, not the compiler's.

#include <algorithm>

#include "gemm/best/fp64/warp_sums.cuh"
#include "gemm/best/plan.h"
#include "gemm/best/stream_k.h"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/streamed_launch.cuh"
#include "gemm/blocks/tensor_map.h"

namespace fathom::gemm::fp64 {
namespace {

/// Registers of a producer thread and of a consumer thread: 384 have 168 each at first.
constexpr int producer_registers = 40, consumer_registers = 232;

__device__ inline int reload_block_id() {
  int x;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(x));
  return x;
}

/// A cluster is a worker (gemm/best/stream_k.h has blocks); the blocks of one are neighbours.
__device__ inline int worker_of_block() { return reload_block_id() / d.cluster_n; }
__device__ inline int rank_of_block() { return reload_block_id() % d.cluster_n; }
__device__ inline StreamKShares shares_of(const DmmaProduct& p) {
  return {p.tiles_m * p.tiles_n, p.depth, p.stream_tiles};
}

template <Major a_major, Major b_major>
__device__ inline void load_pieces(const DmmaProduct& p, const TileRing<d>& ring) {
  prefetch_map(p.a.of[0]);
  prefetch_map(p.b.of[0]);
  RingPosition<d.stages> position;
  const StreamKShares shares = shares_of(p);
  for (StreamKScheduler scheduler(shares, worker_of_block(), p.workers); !scheduler.done();) {
    const WorkPiece piece = scheduler.take();
    const TileIndex corner = corner_of<d>(p, piece.tile, rank_of_block());
    for (int step = piece.first; step < piece.end; ++step) {
      wait(ring.empty(position.stage), position.parity ^ 1);
      load_stage<d, a_major, b_major>(p, ring, position.stage, rank_of_block(), corner.m, corner.n,
                                      step * stage_depth);
      position.advance();
    }
  }
}

/// Computes this worker's pieces. Who begins a tile adds up and stores it.
template <Major a_major, Major b_major>
__device__ inline void multiply_pieces(const DmmaProduct& p, const TileRing<d>& ring) {
  WarpPlace<d, a_major, b_major> place(p.a.split, p.b.split);
  RingCursor position(ring);
  place.a.move(ring.a(0));
  place.b.move(ring.b(0));
  const StreamKShares shares = shares_of(p);
  for (StreamKScheduler scheduler(shares, worker_of_block(), p.workers); !scheduler.done();) {
    const WorkPiece piece = scheduler.take();
    WarpSums<d> sums;
    sums.clear();
    accumulate_late(position, piece.end - piece.first, place, sums);
    if (piece.first > 0) {
      store_partial(p, sums, reload_block_id());
      continue;
    }
    if (piece.end < p.depth) {
      shares.each_behind(worker_of_block(), piece.tile, p.workers, [&](int other) {
        add_partial(p, sums, other * d.cluster_n + rank_of_block());
      });
    }
    store<d, a_major, b_major>(p, sums, corner_of<d>(p, piece.tile, rank_of_block()));
  }
}

template <Major a_major, Major b_major>
__global__ void __launch_bounds__(d.threads(), 1)
    tma_product(const __grid_constant__ DmmaProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const TileRing<d> ring = make_ring<d>(shared);
  if (threadIdx.x == 0) ring.init(d.reading_warps());
  cluster_sync();
  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == d.warps() / 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(producer_registers));
    if (threadIdx.x % 128 == 0) load_pieces<a_major, b_major>(p, ring);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(consumer_registers));
    multiply_pieces<a_major, b_major>(p, ring);
  }
  cluster_sync();  // no block ends while another of its cluster may still arrive at its barriers
#endif
}

/// From an operand's line in memory to the next: after a single line, no other one has to be found.
std::int64_t line_stride(const TmaOperand& x) {
  return x.lines() > 1 ? x.stride : x.inner() + x.inner() % 2;
}
/// Bytes that its odd lines take in the workspace, where they do not start on 16 bytes.
std::size_t copied_bytes(const TmaOperand& x) {
  if (line_stride(x) % 2 == 0) return 0;
  return workspace_part(sizeof(double) * (x.inner() + x.inner() % 2) * (x.lines() / 2));
}

/// The operand's maps for tiles of `rows`; odd lines that TMA cannot read go to `workspace` first.
OperandMaps operand_maps(const TmaOperand& x, int rows, std::byte*& workspace,
                         cudaStream_t stream) {
  const std::int64_t inner = x.inner(), lines = x.lines(), stride = line_stride(x);
  const int box = x.major == Major::k ? box_lines<Major::k>(rows) : box_lines<Major::outer>(rows);
  OperandMaps maps{{}, stride % 2 != 0};
  if (!maps.split) {
    maps.of[0] = tensor_map(x.data, x.element, inner, lines, stride, box);
    return maps;
  }
  const std::int64_t copied_stride = inner + inner % 2;
  launch_realign({static_cast<const double*>(x.data) + stride, lines / 2, inner, 2 * stride,
                  Major::k, x.element},
                 workspace, copied_stride, stream);
  maps.of[0] = tensor_map(x.data, x.element, inner, (lines + 1) / 2, 2 * stride, box);
  maps.of[1] = tensor_map(workspace, x.element, inner, lines / 2, copied_stride, box);
  workspace += copied_bytes(x);
  return maps;
}

std::size_t flag_bytes(int blocks) {
  return workspace_part(static_cast<std::size_t>(blocks) * d.warps() * sizeof(unsigned));
}
/// Room for what is handed over between blocks, on as many SMs.
std::size_t stream_bytes(int sms) {
  return flag_bytes(sms) + static_cast<std::size_t>(sms) * d.m() * d.n() * sizeof(double);
}

/// Fewest stages of a share of the tiles that are cut along k.
constexpr int least_share = 8;

/// Decides which tiles are cut along k, and makes ready what is needed for it.
void share_along_k(DmmaProduct& p, std::int64_t tiles, int resident, const Workspace& workspace,
                   cudaStream_t stream) {
  const std::int64_t left = tiles % resident;
  if (left == 0) return;
  std::int64_t shared = left;
  if (tiles < resident) {
    const std::int64_t workers = std::min<std::int64_t>(resident, tiles * p.depth / least_share);
    if (workers <= tiles) return;
    p.workers = static_cast<int>(workers);
  } else {
    if (p.depth < 4 * least_share) return;
    // Where few are left a whole wave joins them: each of its tiles is then cut but once.
    if (left * 2 < resident) shared += resident;
  }
  p.stream_tiles = static_cast<int>(shared);
  p.partials = reinterpret_cast<double*>(workspace.data);
  p.ready = reinterpret_cast<unsigned*>(workspace.data + stream_bytes(workspace.sms) -
                                        flag_bytes(workspace.sms));
  FATHOM_CUDA(cudaMemsetAsync(p.ready, 0, flag_bytes(p.workers * d.cluster_n), stream));
}

using Kernel = void (*)(DmmaProduct);

Kernel kernel_of(const TmaOperands& x) {
  const bool a = x.a.major == Major::k, b = x.b.major == Major::k;
  return a ? (b ? &tma_product<Major::k, Major::k> : &tma_product<Major::k, Major::outer>)
           : (b ? &tma_product<Major::outer, Major::k> : &tma_product<Major::outer, Major::outer>);
}

/// The product as BLAS states it or, `swapped`, as C^T = op(B)^T op(A)^T.
void launch_tma_product(Kernel kernel, bool swapped, const Arguments& arguments,
                        const Workspace& workspace, cudaStream_t stream) {
  const Problem& problem = arguments.problem;
  const auto [a, b] = TmaOperands::of(arguments, !swapped);
  DmmaProduct p{};
  std::byte* copies = workspace.data + stream_bytes(workspace.sms);
  p.a = operand_maps(a, d.m(), copies, stream);
  p.b = operand_maps(b, d.n(), copies, stream);
  p.m = static_cast<int>(swapped ? problem.n : problem.m);
  p.n = static_cast<int>(swapped ? problem.m : problem.n);
  p.depth = static_cast<int>(ceil_div(problem.k, stage_depth));
  p.tiles_m = static_cast<int>(ceil_div(p.m, d.m()));
  p.tiles_n = static_cast<int>(ceil_div(p.n, d.n() * d.cluster_n));
  p.alpha = problem.alpha;
  p.beta = problem.beta;
  p.c = {static_cast<double*>(arguments.c), swapped ? problem.ldc : 1, swapped ? 1 : problem.ldc};
  p.vectors = !swapped && problem.ldc % 2 == 0;
  ClusterLaunch launch{1, d.threads(), ring_shared_bytes<d>, d.cluster_n, stream};
  const std::int64_t tiles = std::int64_t{p.tiles_m} * p.tiles_n;
  static const int resident = needed_clusters(kernel, launch);  // of all four: they take the same
  p.workers = static_cast<int>(std::min<std::int64_t>(tiles, resident));
  share_along_k(p, tiles, resident, workspace, stream);
  launch.blocks = p.workers * d.cluster_n;
  launch_cluster(kernel, launch, p);
}

RungPlan plan(const Problem& p, int sms) {
  if (streamed::takes<double>(p)) return streamed::plan<double>(p);
  // A cluster's tiles are 128 rows by 256 columns: what has few columns is multiplied transposed.
  const bool swapped = p.n <= d.m() && p.n < p.m;
  const TmaOperands operands = TmaOperands::of({p}, !swapped);
  const Kernel kernel = kernel_of(operands);
  const std::size_t copied = copied_bytes(operands.a) + copied_bytes(operands.b);
  // In row-major terms; a KernelConfig is in BLAS's.
  const RungKernel told{reinterpret_cast<const void*>(kernel),
                        d.threads(),
                        ring_shared_bytes<d>,
                        d.n(),
                        d.m(),
                        stage_depth,
                        0,
                        d.cluster_n};
  return {[=](const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
            launch_tma_product(kernel, swapped, arguments, workspace, stream);
          },
          stream_bytes(sms) + copied, swapped ? told.transposed() : told, copied == 0};
}

}  // namespace

Rung late_reads() {
  Rung rung = hopper_contender(Class::fp64, "08_late_reads", &plan);
  rung.idea =
      "Fragments are read into registers that a product took at least one product ago, in an "
      "order that the compiler cannot change; tiles beyond whole waves are shared along all their "
      "k, and where the large operand of 16 lies along k, it streams by in runs of 2 KiB.";
  rung.gain =
      "A read into registers that the last product still takes waits for it, and the next product "
      "waits behind the read. 1024 tiles on 132 SMs take the time of 7.76 waves instead of 8: 3 %.";
  return rung;
}

}  // namespace fathom::gemm::fp64
