#pragma once

#include <utility>

#include "gemm/best/fp64/fragments.cuh"
#include "gemm/best/fp64/operand_ring.cuh"

// A warp's sums: how they grow, are handed over to another worker and are stored.

namespace fathom::gemm::fp64 {

template <KernelConfig d>
struct WarpSums {
  double of[d.m_blocks][d.n_blocks][4];

  __device__ void clear() {
#pragma unroll
    for (auto& row : of) {
#pragma unroll
      for (auto& block : row) {
#pragma unroll
        for (double& x : block) x = 0;
      }
    }
  }
};

/// A warp's place and what it reads.
template <KernelConfig d, Major a_major, Major b_major>
struct WarpPlace {
  static_assert(d.n_blocks % 2 == 0,
                "along the outer dimension, 16 columns are a block of shared memory");
  static constexpr bool paired = a_major == Major::outer && b_major == Major::k;
  LaneOfA<a_major, paired> a;
  LaneOfB<b_major, paired> b;

  __device__ WarpPlace(bool a_split, bool b_split) : a(row(), a_split), b(column(), b_split) {}

  /// Of its tile, within the block's.
  static __device__ int row() { return reload_thread_id() / 32 % d.warps_m * d.m_blocks * 16; }
  static __device__ int column() { return reload_thread_id() / 32 / d.warps_m * d.n_blocks * 8; }
};

/// Adds `steps` stages from `position` on, and leaves it behind them. B's fragments of a stage stay
/// in registers and A's come one block of 16 rows ahead of their products: the last block's
/// products run while the next stage's first fragments are read, into the registers that they
/// leave.
template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void accumulate(const Ring<d>& ring, RingPosition<d.stages>& position, int steps,
                                  const WarpPlace<d, a_major, b_major>& place, WarpSums<d>& sums) {
  static_assert(d.m_blocks % 2 == 0);
  constexpr int last = d.m_blocks - 1;
  double a[2][8], b[d.n_blocks][4];
  wait(ring.full(position.stage), position.parity);
  place.a.load(ring.a(position.stage), 0, a[0]);
#pragma unroll
  for (int j = 0; j < d.n_blocks; ++j) place.b.load(ring.b(position.stage), j, b[j]);
#pragma unroll 1
  for (; steps > 0; --steps) {
    const int stage = position.stage;
#pragma unroll
    for (int i = 0; i < last; ++i) {
      place.a.load(ring.a(stage), i + 1, a[(i + 1) % 2]);
#pragma unroll
      for (int j = 0; j < d.n_blocks; ++j) multiply_16x8x16(sums.of[i][j], a[i % 2], b[j]);
    }
    position.advance();
    if (steps > 1) {
      // The answer, and what else takes long, comes under products that are under way.
      const bool there = ring.is_full(position);
      multiply_16x8x16(sums.of[last][0], a[1], b[0]);
      ring.release(stage);  // this product has what was read last
      multiply_16x8x16(sums.of[last][1], a[1], b[1]);
      if (!there) wait(ring.full(position.stage), position.parity);
      place.a.load(ring.a(position.stage), 0, a[0]);
      place.b.load(ring.b(position.stage), 0, b[0]);
      place.b.load(ring.b(position.stage), 1, b[1]);
#pragma unroll
      for (int j = 2; j < d.n_blocks; ++j) {
        multiply_16x8x16(sums.of[last][j], a[1], b[j]);
        place.b.load(ring.b(position.stage), j, b[j]);
      }
    } else {
#pragma unroll
      for (int j = 0; j < d.n_blocks; ++j) multiply_16x8x16(sums.of[last][j], a[1], b[j]);
      ring.release(stage);
    }
  }
}

/// The compiler moves neither reads of shared memory nor products past this, which does nothing:
/// what it would trigger is behind a condition that never holds, `steps` being positive.
__device__ inline void keep_order(int steps) {
  asm volatile("{\n.reg .pred p;\nsetp.lt.s32 p, %0, 0;\n@p pmevent 0;\n}" ::"r"(steps));
}

/// Calls `use` with First to End - 1 as constants.
template <int First, int End, class Use>
__device__ inline void each(const Use& use) {
  if constexpr (First < End) {
    use.template operator()<First>();
    each<First + 1, End>(use);
  }
}

/// The same, in an order that is kept. Where the compiler chooses it, reads come right after the
/// last product that takes their registers, and wait until that has read these; the next product
/// waits behind them, and then as long again as the compiler counts from the reads on. Here it is
/// another product or more that has taken the registers last, and from reads on nothing is counted.
/// Of the last 16 rows of a stage one half is multiplied after the next stage has come, so that the
/// loop has one branch; the first time that is nothing by nothing.
template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void accumulate_late(RingCursor<d>& cursor, int steps,
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

/// The same for small tiles, which other warps and not their own registers keep fed: every stage's
/// fragments are read, then multiplied. A stage is released during the next one: the products that
/// took its fragments have begun then, and so nothing of it is still to be read.
template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void accumulate_plainly(const Ring<d>& ring, RingPosition<d.stages>& position,
                                          int steps, const WarpPlace<d, a_major, b_major>& place,
                                          WarpSums<d>& sums) {
  int last = -1;
#pragma unroll 1
  for (; steps > 0; --steps) {
    double a[d.m_blocks][8], b[d.n_blocks][4];
    wait(ring.full(position.stage), position.parity);
    if (last >= 0) ring.release(last);
#pragma unroll
    for (int i = 0; i < d.m_blocks; ++i) place.a.load(ring.a(position.stage), i, a[i]);
#pragma unroll
    for (int j = 0; j < d.n_blocks; ++j) place.b.load(ring.b(position.stage), j, b[j]);
#pragma unroll
    for (int i = 0; i < d.m_blocks; ++i) {
#pragma unroll
      for (int j = 0; j < d.n_blocks; ++j) multiply_16x8x16(sums.of[i][j], a[i], b[j]);
    }
    last = position.stage;
    position.advance();
  }
  if (last >= 0) ring.release(last);
}

/// Stores a warp's sums; `corner` is that of the block's tile.
template <KernelConfig d, Major a_major, Major b_major>
__device__ inline void store(const DmmaProduct& p, const WarpSums<d>& sums, TileIndex corner) {
  using Place = WarpPlace<d, a_major, b_major>;
  const int lane = reload_thread_id() % 32;
  // Of A along the outer dimension a lane has neighbouring rows, else rows eight apart.
  constexpr int row_of_lane = a_major == Major::outer ? 2 : 1,
                next_row = a_major == Major::outer ? 1 : 8;
  const int first_row = Place::row() + lane / 4 * row_of_lane,
            first_column = Place::column() + lane % 4 * 2;
  const bool a_split = a_major == Major::k && p.a.split, b_split = b_major == Major::k && p.b.split;
  if (a_major == Major::outer && !b_split && p.vectors && p.beta == 0 && corner.m + d.m() <= p.m &&
      corner.n + d.n() <= p.n) {
    double* column = &p.c(corner.m + first_row, corner.n + first_column);
#pragma unroll
    for (int j = 0; j < d.n_blocks; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
#pragma unroll
        for (int i = 0; i < d.m_blocks; ++i) {
          *reinterpret_cast<double2*>(column + i * 16) =
              make_double2(p.alpha * sums.of[i][j][e], p.alpha * sums.of[i][j][2 + e]);
        }
        column += e == 0 ? p.c.column_stride : 7 * p.c.column_stride;
      }
    }
    return;
  }
  const auto store_column = [&]<int Index> {
    constexpr int j = Index / 2, e = Index % 2;
    const int column = corner.n + place_of_line<d.n()>(first_column + j * 8 + e, b_split);
    if (column >= p.n) return;
#pragma unroll
    for (int i = 0; i < d.m_blocks; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int line = first_row + i * 16 + half * next_row;
        const int row = corner.m + place_of_line<d.m()>(line, a_split);
        if (row >= p.m) continue;
        double& c = p.c(row, column);
        const double scaled = p.alpha * sums.of[i][j][2 * half + e];
        c = p.beta == 0 ? scaled : fma(p.beta, c, scaled);
      }
    }
  };
  // By constants, not a loop: the compiler rolls that up, and the sums would go to memory for it.
  [&]<int... Index>(std::integer_sequence<int, Index...>) {
    (store_column.template operator()<Index>(), ...);
  }
  (std::make_integer_sequence<int, 2 * d.n_blocks>());
}

/// Where a block's sums lie on their way to another worker: thread by thread, as no other reads
/// them.
template <KernelConfig d>
__device__ inline double2* partial_of(const DmmaProduct& p, int block) {
  return reinterpret_cast<double2*>(p.partials) +
         static_cast<std::int64_t>(block) * (d.m() * d.n() / 2) + reload_thread_id();
}

/// Set once this warp's share of them is there.
template <KernelConfig d>
__device__ inline unsigned* ready_flag(const DmmaProduct& p, int block) {
  return p.ready + block * d.warps() + reload_thread_id() / 32;
}

/// Hands a warp's sums over to the worker that has begun the tile.
template <KernelConfig d>
__device__ inline void store_partial(const DmmaProduct& p, const WarpSums<d>& sums, int block) {
  double2* to = partial_of<d>(p, block);
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
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(ready_flag<d>(p, block)) : "memory");
  }
}

/// Adds the sums that block `block` has handed over.
template <KernelConfig d>
__device__ inline void add_partial(const DmmaProduct& p, WarpSums<d>& sums, int block) {
  const unsigned* const ready = ready_flag<d>(p, block);
  unsigned there = 0;
#pragma unroll 1
  for (int tries = 0; there == 0; ++tries) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(ready) : "memory");
    if (tries == most_tries) __trap();
  }
  const double2* from = partial_of<d>(p, block);
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
