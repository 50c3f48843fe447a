#pragma once

#include <cstdint>
#include <cstring>

#include "gemm/blocks/async_copy.cuh"
#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/small_plan.h"

// The k of one tile cut into as many parts as a cluster has blocks. Each block sends what it has
// summed of another's rows into that one's shared memory; what it gets it adds up in the order of
// the parts, so that the result is the same in every run, and stores. Nothing of it goes to global
// memory but C.

namespace fathom::gemm {

/// Waits until all of the kernel before on the stream is done and seen, and lets the one after come
/// as far. `a` and `b`, addresses of which one at least is not null, are computed before: told by a
/// dependence alone, the assembler puts the wait first, and what could be done meanwhile behind it.
__device__ inline void await_kernel_before(const void* a, const void* b) {
  asm volatile(
      "{\n.reg .pred there;\n.reg .b64 either;\nor.b64 either, %0, %1;\nsetp.ne.b64 there, either, "
      "0;\n"
      "@there griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n}" ::"l"(a),
      "l"(b)
      : "memory");
}

/// A block among those of its cluster.
struct ClusterPart {
  int rank, count;
  __device__ ClusterPart() : rank(static_cast<int>(cluster_rank())) {
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  }

  /// The first of this part's stages, of so many, and with the next part's number the end of them.
  __device__ int begin(int stages, int part) const {
    return static_cast<int>(static_cast<unsigned>(stages * part) / static_cast<unsigned>(count));
  }

  /// Says that this block runs; once, by all threads.
  __device__ void show_up() const {
    if (count > 1) asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
  }
  /// Waits until all do: only then is their shared memory there.
  __device__ void wait_for_all() const {
    if (count > 1) asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  }
  /// After this all that was sent has arrived, and nobody sends any more.
  __device__ void meet() const {
    if (count > 1) {
      cluster_sync();
    } else {
      __syncthreads();
    }
  }
};

/// Room in a block's shared memory for the sums of its share of an M x N tile's rows, of which each
/// part has a slot. `Pad` sums lie between the rows: as many as keep a warp's stores apart.
template <class Sum, int M, int N, int Pad>
class ExchangedSums {
  static constexpr int pitch = N + Pad;
  static_assert(pitch * sizeof(Sum) % 16 == 0 && M <= 256);

 public:
  /// Shares are rounded up to whole rows, of each of the slots.
  static constexpr int bytes = (M + most_cluster_parts - 1) * pitch * static_cast<int>(sizeof(Sum));

  __device__ ExchangedSums(std::uint32_t memory, const ClusterPart& part)
      : memory_(memory),
        part_(part),
        rows_(static_cast<int>(static_cast<unsigned>(M + part.count - 1) /
                               static_cast<unsigned>(part.count))),
        inverse_((65535 + rows_) / rows_) {}

  /// Sends neighbours of a row, 8 or 16 bytes of them, to the block whose row it is.
  template <int Count>
  __device__ void send(int row, int column, const Sum (&sums)[Count]) const {
    static_assert(Count * sizeof(Sum) == 8 || Count * sizeof(Sum) == 16);
    const int owner = row * inverse_ >> 16;  // row / rows_
    const int slot_row = part_.rank * rows_ + row - owner * rows_;
    std::uint32_t to = memory_ + (slot_row * pitch + column) * static_cast<int>(sizeof(Sum));
    std::uint32_t words[Count * sizeof(Sum) / 4];
    memcpy(words, sums, sizeof words);
    if (part_.count == 1) {
      if constexpr (sizeof words == 16) {
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]),
                     "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
      } else {
        asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(words[0]), "r"(words[1])
                     : "memory");
      }
      return;
    }
    asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(to) : "r"(owner));
    if constexpr (sizeof words == 16) {
      asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]),
                   "r"(words[1]), "r"(words[2]), "r"(words[3])
                   : "memory");
    } else {
      asm volatile("st.shared::cluster.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(words[0]),
                   "r"(words[1])
                   : "memory");
    }
  }

  /// After all have met: adds up this block's rows and calls `store` with the place in the tile of
  /// each `Vector` neighbours of a row, and their sums. By all of `Threads`.
  template <int Threads, int Vector, class Store>
  __device__ void add_up(Store&& store) const {
    constexpr int per_row = N / Vector;
    const int first = part_.rank * rows_, rows = min(rows_, M - first);
    for (int v = static_cast<int>(threadIdx.x); v < rows * per_row; v += Threads) {
      const int row = v / per_row, column = v % per_row * Vector;
      const std::uint32_t from = memory_ + (row * pitch + column) * static_cast<int>(sizeof(Sum));
      // All loads before the first addition: one way to shared memory and back, not one a part.
      Sum of[most_cluster_parts][Vector];
#pragma unroll
      for (int part = 0; part < most_cluster_parts; ++part) {
        if (part < part_.count)
          load(from + part * rows_ * pitch * static_cast<int>(sizeof(Sum)), of[part]);
      }
      Sum sums[Vector] = {};
#pragma unroll
      for (int part = 0; part < most_cluster_parts; ++part) {
        if (part >= part_.count) continue;
#pragma unroll
        for (int i = 0; i < Vector; ++i) sums[i] += of[part][i];
      }
      store(first + row, column, sums);
    }
  }

 private:
  template <int Count>
  static __device__ void load(std::uint32_t from, Sum (&to)[Count]) {
    static_assert(sizeof to == 16);
    std::uint32_t words[4];
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(from));
    memcpy(to, words, sizeof to);
  }

  std::uint32_t memory_;
  ClusterPart part_;
  int rows_;     ///< of a share
  int inverse_;  ///< 65536 / rows_, rounded up
};

}  // namespace fathom::gemm
