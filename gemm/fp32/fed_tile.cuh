#pragma once

#include "gemm/blocks/major.h"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/shared_load.cuh"
#include "gemm/blocks/thread_tile.cuh"

// Tiles in a ring of shared memory that somebody else fills, and the threads that multiply them.

namespace fathom::gemm::fp32 {

/// A block's tile in row-major terms, and how its multiplying threads share it: warps as
/// WarpsM x WarpsN, lanes as LanesM x (32 / LanesM), TM x TN elements a thread. A stage is 32 of k.
/// A lies in it as `a`: along k in lines of 128 bytes with the 128-byte swizzle, or along m. B lies
/// along n.
template <int TM, int TN, int WarpsM, int WarpsN, int LanesM, int Stages, Major a, int Words = 1,
          bool ByColumns = false>
struct FedTile {
  static constexpr int rows = TM, columns = TN, lanes_m = LanesM, lanes_n = 32 / LanesM;
  static constexpr int warps_m = WarpsM, warps_n = WarpsN, multiplying = 32 * WarpsM * WarpsN;
  /// With the warpgroup of which one thread feeds the ring: registers change hands by warpgroups.
  static constexpr int threads = multiplying + 128;
  static constexpr int m = TM * LanesM * WarpsM, n = TN * lanes_n * WarpsN, k = 32;
  static constexpr int stages = Stages;
  static constexpr Major a_major = a;
  static constexpr int words = Words;           ///< of four k in the loop's body
  static constexpr bool by_columns = ByColumns; ///< order of a thread's multiplications
  static constexpr int a_bytes = m * k * 4, stage_bytes = (m + n) * k * 4;
  /// The ring on 1024 bytes, as the swizzle counts, and its barriers.
  static constexpr int shared_bytes = 1024 + Stages * stage_bytes + Stages * 16;
  static_assert(TM % 4 == 0 && TN % 4 == 0 && m <= 256 && n <= 256 && shared_bytes <= 227 * 1024);
};

/// The ring's memory and barriers, all of them shared-memory addresses.
template <class Tile>
struct FedRing {
  std::uint32_t tiles, barriers;

  __device__ explicit FedRing(const void* shared)
      : tiles((shared_address(shared) + 1023) / 1024 * 1024),
        barriers(tiles + Tile::stages * Tile::stage_bytes) {}
  __device__ std::uint32_t stage(int i) const { return tiles + i * Tile::stage_bytes; }
  /// Ends when the stage has all its bytes.
  __device__ std::uint32_t full(int i) const { return barriers + 8 * i; }
  /// Ends when every multiplying warp has read the stage.
  __device__ std::uint32_t empty(int i) const { return barriers + 8 * (Tile::stages + i); }

  /// By one thread, before the block meets.
  __device__ void init(int filling_arrivals) const {
    for (int i = 0; i < Tile::stages; ++i) {
      barrier_init(full(i), filling_arrivals);
      barrier_init(empty(i), Tile::multiplying / 32);
    }
    barrier_init_fence();
  }
};

/// A multiplying thread: its sums, and the fragments that it has read ahead. `start` once, then
/// `multiply` for each piece of work.
template <class Tile>
class Multiplier {
 public:
  static constexpr bool along_k = Tile::a_major == Major::k;
  float sums[Tile::rows][Tile::columns];

  __device__ explicit Multiplier(const FedRing<Tile>& ring) : ring_(ring) {
    const LanePlace<Tile::lanes_m> lane;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int warp_row = warp % Tile::warps_m * Tile::rows * Tile::lanes_m;
    row_ = warp_row + lane.m * (along_k ? 1 : 4);
    column_ = warp / Tile::warps_m * Tile::columns * Tile::lanes_n + lane.n * 4;
    a_ = along_k ? row_ * Tile::k * 4 + lane.m % 8 * 16 : row_ * 4;
    b_ = Tile::a_bytes + column_ * 4;
  }

  /// The row and column of the block's tile of sums[i][j].
  __device__ int row(int i) const {
    return row_ + (along_k ? i * Tile::lanes_m : i / 4 * (4 * Tile::lanes_m) + i % 4);
  }
  __device__ int column(int j) const { return column_ + j / 4 * (4 * Tile::lanes_n) + j % 4; }

  /// Waits for the ring's first stage, and reads the first fragments.
  __device__ void start() {
    wait(ring_.full(0), 0);
    a_line_ = ring_.stage(0) + a_;
    b_line_ = ring_.stage(0) + b_;
    load_b(0, b_line_);
#pragma unroll
    for (int i = 0; i < Tile::rows; i += along_k ? 1 : 4) load_a(0, i, a_line_);
  }

  /// Sets the sums to the products of the next `stages` of the ring. Ends with the fragments of the
  /// stage after them read, unless these are the `last`.
  __device__ void multiply(int stages, bool last) {
#pragma unroll
    for (auto& row : sums)
#pragma unroll
      for (float& sum : row) sum = 0;
    constexpr int words_of_stage = Tile::k / 4;
    int word = 0;
#pragma unroll 1
    for (int steps = stages * (words_of_stage / Tile::words); steps > 0; --steps) {
#pragma unroll
      for (int w = 0; w < Tile::words; ++w) {
        add_k<0>();
        add_k<1>();
        add_k<2>();
        // The next four of k, which may be in the next stage.
        ++word;
        b_line_ += 4 * Tile::n * 4;
        if constexpr (along_k) {
          a_line_ = (ring_.stage(position_.stage) + a_) ^ word * 16;
        } else {
          a_line_ += 4 * Tile::m * 4;
        }
        if (w + 1 == Tile::words && word == words_of_stage) {
          word = 0;
          next_stage(last && steps == 1);
        }
        add_k<3>();
      }
    }
  }

 private:
  /// Everything of the present stage has been read. After the last one its lines are read again.
  __device__ void next_stage(bool last) {
    if (!last) {
      __syncwarp();
      if (threadIdx.x % 32 == 0) arrive(ring_.empty(position_.stage));
      position_.advance();
      wait(ring_.full(position_.stage), position_.parity);
    }
    a_line_ = ring_.stage(position_.stage) + a_;
    b_line_ = ring_.stage(position_.stage) + b_;
  }

  __device__ void load_b(int buffer, std::uint32_t line) {
#pragma unroll
    for (int j = 0; j < Tile::columns; j += 4)
      load_vector(b_fragment_[buffer][j / 4], line + j / 4 * Tile::lanes_n * 16);
  }

  /// Row i's four of k, or four rows' one.
  __device__ void load_a(int buffer, int i, std::uint32_t line) {
    if constexpr (along_k) {
      // A row whose number differs modulo 8 has its words elsewhere.
      load_vector(a_fragment_[i], (line ^ (i * Tile::lanes_m % 8 * 16)) + i * Tile::lanes_m * Tile::k * 4);
    } else {
      load_vector(a_fragment_[buffer * (Tile::rows / 4) + i / 4], line + i / 4 * Tile::lanes_m * 16);
    }
  }

  template <int k>
  __device__ float a_of(int i) const {
    if constexpr (along_k) return a_fragment_[i][k];
    return a_fragment_[k % 2 * (Tile::rows / 4) + i / 4][i % 4];
  }

  /// Adds the products of one k, and reads what comes after it.
  template <int k>
  __device__ void add_k() {
    load_b((k + 1) % 2, b_line_ + (k + 1) % 4 * Tile::n * 4);
    if constexpr (!along_k) {
#pragma unroll
      for (int i = 0; i < Tile::rows; i += 4) load_a((k + 1) % 2, i, a_line_ + (k + 1) % 4 * Tile::m * 4);
    }
    const auto add = [&](int i, int j) {
      sums[i][j] = fmaf(a_of<k>(i), b_fragment_[k % 2][j / 4][j % 4], sums[i][j]);
    };
    if constexpr (!Tile::by_columns) {
      // Row by row, alternately forth and back: what is used twice in a row is read once.
#pragma unroll
      for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::columns; ++j) add(i, i % 2 == 0 ? j : Tile::columns - 1 - j);
        if constexpr (along_k && k == 3) load_a(0, i, a_line_);
      }
    } else {
#pragma unroll
      for (int j = 0; j < Tile::columns; ++j) {
#pragma unroll
        for (int i = 0; i < Tile::rows; ++i) {
          const int turned = j % 2 == 0 ? i : Tile::rows - 1 - i;
          add(turned, j);
          if constexpr (along_k && k == 3) {
            if (j + 1 == Tile::columns) load_a(0, turned, a_line_);
          }
        }
      }
    }
  }

  FedRing<Tile> ring_;
  RingPosition<Tile::stages> position_;
  int row_, column_;
  std::uint32_t a_, b_;            ///< of the thread's first fragments in a stage
  std::uint32_t a_line_, b_line_;  ///< of those that are read ahead; k is added to them
  float a_fragment_[along_k ? Tile::rows : Tile::rows / 2][4];
  float b_fragment_[2][Tile::columns / 4][4];
};

}  // namespace fathom::gemm::fp32
