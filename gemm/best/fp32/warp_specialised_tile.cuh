#pragma once

#include "gemm/best/stream_k.h"
#include "gemm/blocks/box_transposition.cuh"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/thread_tile.cuh"

// Tiles in a ring of shared memory that somebody else fills, and the threads that multiply them.

namespace fathom::gemm::fp32 {

/// A block's tile in row-major terms, and how its consumer threads share it (ThreadTile). A stage
/// is 32 of k: of each k a line of A's m elements, then one of B's n each, padded where an operand
/// comes along k and is transposed. The loop's body goes `body` of k at once.
template <bool TransposeA, bool TransposeB, Cut C>
struct WarpSpecialisedTile {
  static constexpr bool transposes_a = TransposeA, transposes_b = TransposeB;
  static constexpr Cut cut = C;
  static constexpr int rows = 16, columns = 8;  ///< of a thread
  static constexpr int m = 128, n = 256, k = 32;
  /// Stages of the ring: both operands' boxes beside it leave it room for three.
  static constexpr int stages = TransposeA && TransposeB ? 3 : 4, body = 8;
  /// How much of k a unit of shares has, and how many units a stage.
  static constexpr int step = C == Cut::stages ? k : body, steps = k / step;
  using Threads = ThreadTile<m, n, rows, columns, 2, 4, 4>;
  /// The first of the block's threads multiply; a warpgroup fills the ring.
  static constexpr int consumer_threads = Threads::threads, producer_threads = 128,
                       threads = consumer_threads + producer_threads;
  /// At a stage's full barrier: of the threads that transpose, and of who tells TMA of the rest.
  static constexpr int arrivals =
      (TransposeA || TransposeB ? producer_threads : 0) + (TransposeA && TransposeB ? 0 : 1);
  static constexpr int pitch_a = m + (TransposeA ? transposed_line_pad : 0),
                       pitch_b = n + (TransposeB ? transposed_line_pad : 0);
  static constexpr int a_floats = k * pitch_a, stage_floats = a_floats + k * pitch_b;
  static constexpr int a_bytes = a_floats * 4, stage_bytes = stage_floats * 4,
                       b_bytes = stage_bytes - a_bytes;
  /// Bytes of the stages and their barriers, on 128 bytes.
  static constexpr int shared_bytes = (stages * (stage_bytes + 8) + 127) / 128 * 128;
  static_assert(k % body == 0 && body % 2 == 0);
};

/// The ring's memory and barriers. What a stage holds is waited for by its bytes or copies; that it
/// is read, at one of the block's hardware barriers: there a thread waits without trying, and each
/// try would be an instruction that a consumer warp beside it cannot issue.
template <class Tile>
struct StageRing {
  const float* tiles;
  std::uint32_t address, barriers;  ///< of `tiles` and behind them, in shared memory

  __device__ explicit StageRing(const float* shared)
      : tiles(shared),
        address(shared_address(shared)),
        barriers(address + Tile::stages * Tile::stage_bytes) {}
  /// Where a producer's own memory starts.
  __device__ std::uint32_t behind() const { return address + Tile::shared_bytes; }
  __device__ std::uint32_t stage(int i) const { return address + i * Tile::stage_bytes; }
  /// Ends when the stage is full.
  __device__ std::uint32_t full(int i) const { return barriers + 8 * i; }

  /// By one thread, before the block meets.
  __device__ void init() const {
    for (int i = 0; i < Tile::stages; ++i) barrier_init(full(i), Tile::arrivals);
    barrier_init_fence();
  }

  /// By all consumer threads: they have read the stage, `last` after all else of it.
  __device__ static void release(int i, const typename Tile::Threads::Fragment& last) {
    named_arrive(once_read(first_id + i, last), Tile::consumer_threads + Tile::producer_threads);
  }
  /// By all producer threads: waits for that.
  __device__ static void wait_released(int i) {
    named_barrier(first_id + i, Tile::consumer_threads + Tile::producer_threads);
  }
  /// Meets all producer threads.
  __device__ static void producers_sync() {
    named_barrier(first_id + Tile::stages, Tile::producer_threads);
  }

 private:
  static constexpr int first_id = 2;

  /// The id, which nobody knows before the fragment has come: the compiler would let a thread
  /// arrive with loads in flight, and a warp that fills the stage could store before they read.
  __device__ static int once_read(int id, const typename Tile::Threads::Fragment& fragment) {
    // One element of each 16-byte load; with this bit set their union is more than any id.
    unsigned loaded = 1u << 8;
#pragma unroll
    for (int i = 3; i < Tile::rows; i += 4) loaded |= __float_as_uint(fragment.a[i]);
#pragma unroll
    for (int j = 3; j < Tile::columns; j += 4) loaded |= __float_as_uint(fragment.b[j]);
    asm volatile("min.u32 %0, %0, %1;" : "+r"(id) : "r"(loaded));
    return id;
  }
};

/// The stages in the order in which producer threads fill them.
template <class Tile>
class FillOrder {
 public:
  /// Waits until the next stage may be filled.
  __device__ int next() {
    const int stage = stage_;
    if (filled_ >= Tile::stages) StageRing<Tile>::wait_released(stage);
    ++filled_;
    if (++stage_ == Tile::stages) stage_ = 0;
    return stage;
  }
  /// Meets the consumer threads at what they still release: all but the last stage of all.
  __device__ void finish() {
    const int left = (filled_ < Tile::stages ? static_cast<int>(filled_) : Tile::stages) - 1;
    if (filled_ < Tile::stages) stage_ = 0;
    for (int i = 0; i < left; ++i) {
      StageRing<Tile>::wait_released(stage_);
      if (++stage_ == Tile::stages) stage_ = 0;
    }
  }

 private:
  int stage_ = 0;
  long long filled_ = 0;
};

/// A consumer thread: its sums, and fragments read ahead. `start` once, then `multiply` each piece.
template <class Tile>
class Consumer {
 public:
  typename Tile::Threads place;
  typename Tile::Threads::Sums sums;

  __device__ explicit Consumer(const StageRing<Tile>& ring) : ring_(ring) {}

  /// Waits for the ring's first stage, and reads the first fragments.
  __device__ void start() {
    wait(ring_.full(0), 0);
    line_a_ = ring_.tiles + place.row;
    line_b_ = ring_.tiles + Tile::a_floats + place.column;
    next_full_ = ring_.full(1);
    fragment_[0].load(line_a_, line_b_);
  }

  /// Sets the sums to the products of the next `steps` of the ring, from the start of a stage on.
  /// Ends with the first fragments of the stage after them read, unless these are the `last`.
  __device__ void multiply(int steps, bool last) {
    sums = {};
    // Where shares are cut at bodies, `left` in a stage's last one; else they are counted.
    [[maybe_unused]] int body = 0, stage_end = max(steps - bodies + 1, 1);
#pragma unroll 1
    for (int left = steps * (Tile::step / Tile::body); left > 0; --left) {
      const bool ready = has_ended(next_full_, next_.parity);  // a body before it is needed
#pragma unroll
      for (int k = 0; k < Tile::body; ++k) {
        if (k + 1 < Tile::body) {
          fragment_[(k + 1) % 2].load(line_a_ + (k + 1) * Tile::pitch_a,
                                      line_b_ + (k + 1) * Tile::pitch_b);
        } else {
          line_a_ += Tile::body * Tile::pitch_a;
          line_b_ += Tile::body * Tile::pitch_b;
          if (Tile::cut == Cut::stages ? ++body == bodies : left == stage_end) {
            body = 0;
            if constexpr (Tile::cut == Cut::bodies) {
              stage_end = max(left - bodies, 1);
              if (left == 1) {
                // What the last stage has beyond is another block's.
                const int beyond = (bodies - steps % bodies) % bodies * Tile::body;
                line_a_ += beyond * Tile::pitch_a;
                line_b_ += beyond * Tile::pitch_b;
              }
            }
            next_stage(ready, last && left == 1);
          }
          fragment_[0].load(line_a_, line_b_);
        }
        sums.add(fragment_[k % 2]);
      }
    }
  }

 private:
  static constexpr int bodies = Tile::k / Tile::body;

  /// The present stage has been read; after the last one its lines are read again, for nothing.
  __device__ void next_stage(bool ready, bool last) {
    int step = -Tile::a_floats, step_b = -(Tile::stage_floats - Tile::a_floats);
    if (!last) {
      ring_.release(stage_, fragment_[(Tile::body - 1) % 2]);
      if (!ready) wait(next_full_, next_.parity);
      stage_ = next_.stage;
      next_.advance();
      next_full_ += 8;
      if (next_.stage == 0) next_full_ -= 8 * Tile::stages;
      // From behind this stage's lines to the next one's, or from the ring's end to its start.
      const int ring = stage_ == 0 ? Tile::stages * Tile::stage_floats : 0;
      step = Tile::stage_floats - Tile::a_floats - ring;
      step_b = Tile::a_floats - ring;
    }
    line_a_ += step;
    line_b_ += step_b;
  }

  StageRing<Tile> ring_;
  int stage_ = 0;
  RingPosition<Tile::stages> next_{1, 0};
  std::uint32_t next_full_;
  const float *line_a_, *line_b_;
  typename Tile::Threads::Fragment fragment_[2];
};

}  // namespace fathom::gemm::fp32
