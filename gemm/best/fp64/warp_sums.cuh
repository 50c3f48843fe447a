#pragma once

#include "gemm/blocks/dmma_tile.cuh"
#include "gemm/blocks/mbarrier.cuh"

// How a warp's sums grow, and are handed over to another worker.

namespace fathom::gemm::fp64 {

/// Tiles of 128 x 256 for a cluster, in BLAS's terms.
inline constexpr KernelConfig d{.cluster_n = 2};
static_assert(d.warps() == 8, "the register counts are those of two warpgroups");

/// A warp's place in the ring, as addresses that move on: products wait for no arithmetic.
class RingCursor {
 public:
  __device__ explicit RingCursor(const TileRing<d>& ring)
      : full_(ring.full(0)), empty_(ring.empty(0)) {
    asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(empty_) : "r"(lane() % d.cluster_n));
  }

  __device__ bool is_full() const { return has_ended(full_, position_.parity); }
  __device__ void wait_full() const { wait(full_, position_.parity); }
  /// As `release` of the stage: as arrive_at, with the remote address precomputed.
  __device__ void release() const {
    if (lane() < d.cluster_n) {
      asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(empty_)
                   : "memory");
    }
  }
  /// Returns how many bytes further the next stage lies.
  __device__ int advance() {
    position_.advance();
    const bool wraps = position_.stage == 0;
    const int on = wraps ? -8 * (d.stages - 1) : 8;
    full_ += on, empty_ += on;
    return wraps ? -d.stage_bytes() * (d.stages - 1) : d.stage_bytes();
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  RingPosition<d.stages> position_;
  std::uint32_t full_;   ///< the stage's barriers
  std::uint32_t empty_;  ///< in the block of the lane's number
};

/// The compiler moves neither reads of shared memory nor products past this, which does nothing:
/// what it would trigger is behind a condition that never holds, `steps` being positive.
__device__ inline void keep_order(int steps) {
  asm volatile("{\n.reg .pred p;\nsetp.lt.s32 p, %0, 0;\n@p pmevent 0;\n}" ::"r"(steps));
}

/// Adds `steps` stages from the cursor on, and leaves it behind them. B's fragments of a stage stay
/// in registers, A's come one block of 16 rows ahead of their products. The order is kept: the
/// compiler's would have reads come right after the last product that takes their registers, and
/// wait until that has read these; the next product would wait behind them, and then as long again.
/// Here that product is at least one ago. Half of a stage's last 16 rows is multiplied after the
/// next stage has come, for one branch a loop; at first that is nothing by nothing.
template <Major a_major, Major b_major>
__device__ inline void accumulate_late(RingCursor& cursor, int steps,
                                       WarpPlace<d, a_major, b_major>& place, WarpSums<d>& sums) {
  static_assert(d.m_blocks % 2 == 0);
  constexpr int last = d.m_blocks - 1, half = d.n_blocks / 2;
  double a[2][8], b[d.n_blocks][4];
#pragma unroll
  for (double& x : a[1]) x = 0;
#pragma unroll
  for (int j = half; j < d.n_blocks; ++j) {
#pragma unroll
    for (double& x : b[j]) x = 0;
  }
  bool there = false;
  const auto multiply = [&]<int i, int j> { multiply_16x8x16(sums.of[i][j], a[i % 2], b[j]); };
#pragma unroll 1
  for (; steps > 0; --steps) {
    if (!there) cursor.wait_full();
    multiply.template operator()<last, half>();
    keep_order(steps);
    place.b.load(0, 0, b[0]);
    place.a.load(0, 0, a[0]);
#pragma unroll
    for (int j = 1; j < half; ++j) place.b.load(0, j, b[j]);
    keep_order(steps);
    each<half + 1, d.n_blocks>([&]<int j> { multiply.template operator()<last, j>(); });
    each<0, last>([&]<int i> {
      each<0, d.n_blocks>([&]<int j> {
        multiply.template operator()<i, j>();
        if constexpr (i == 0 ? j < half : j == half - 1) {
          keep_order(steps);
          if constexpr (i == 0) place.b.load(0, half + j, b[half + j]);
          if constexpr (j == half - 1) place.a.load(0, i + 1, a[(i + 1) % 2]);
          keep_order(steps);
        }
      });
    });
    keep_order(steps);
    multiply.template operator()<last, 0>();
    keep_order(steps);
    cursor.release();  // this product has what was read last
    const int on = cursor.advance();
    there = cursor.is_full();
    place.a.move(on);
    place.b.move(on);
    keep_order(steps);
    each<1, half>([&]<int j> { multiply.template operator()<last, j>(); });
    keep_order(steps);
  }
  each<half, d.n_blocks>([&]<int j> { multiply.template operator()<last, j>(); });
}

/// Where a block's sums lie on their way to another worker: thread by thread.
__device__ inline double2* partial_of(const DmmaProduct& p, int block) {
  return reinterpret_cast<double2*>(p.partials) +
         static_cast<std::int64_t>(block) * (d.m() * d.n() / 2) + reload_thread_id();
}

/// Set once this warp's share of them is there.
__device__ inline unsigned* ready_flag(const DmmaProduct& p, int block) {
  return p.ready + block * d.warps() + reload_thread_id() / 32;
}

/// Hands a warp's sums over to the worker that has begun the tile.
__device__ inline void store_partial(const DmmaProduct& p, const WarpSums<d>& sums, int block) {
  double2* to = partial_of(p, block);
#pragma unroll
  for (const auto& row : sums.of) {
#pragma unroll
    for (const auto& x : row) {
      to[0] = make_double2(x[0], x[1]);
      to[32 * d.warps()] = make_double2(x[2], x[3]);
      to += 2 * 32 * d.warps();
    }
  }
  __threadfence();
  __syncwarp();
  if (reload_thread_id() % 32 == 0) {
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(ready_flag(p, block)) : "memory");
  }
}

/// Adds the sums that block `block` has handed over.
__device__ inline void add_partial(const DmmaProduct& p, WarpSums<d>& sums, int block) {
  const unsigned* const ready = ready_flag(p, block);
  unsigned there = 0;
#pragma unroll 1
  for (int tries = 0; there == 0; ++tries) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(ready) : "memory");
    if (tries == most_tries) __trap();
  }
  const double2* from = partial_of(p, block);
#pragma unroll
  for (auto& row : sums.of) {
    asm volatile("" ::: "memory");  // registers are for one row's loads at a time
#pragma unroll
    for (auto& x : row) {
      const double2 low = __ldcg(from), high = __ldcg(from + 32 * d.warps());
      x[0] += low.x, x[1] += low.y, x[2] += high.x, x[3] += high.y;
      from += 2 * 32 * d.warps();
    }
  }
}

}  // namespace fathom::gemm::fp64
