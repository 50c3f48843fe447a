#include "gemm/tuning/stream_patterns.h"

#include <algorithm>

#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/streamed_copy.cuh"
#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/tma.cuh"

namespace fathom::gemm {
namespace {

constexpr int reading_warps = 4;
constexpr int most_stages = 96;
constexpr int load_threads = 512, loads_each = 8;

struct StreamedMatrix {
  CUtensorMap map;
  const std::byte* data;
  int rows, row_bytes;
  int stage_rows, run_bytes, slab_bytes, gap_bytes, stages;
  bool early, prefetches;
  std::uint32_t* sum;
};

/// A stage of the matrix: its first row and byte.
struct StagePlace {
  int row, byte;
};
__device__ inline StagePlace place_of(const StreamedMatrix& s, int stage) {
  const int of_slab = s.slab_bytes / s.run_bytes, groups = s.rows / s.stage_rows;
  const int slab = stage / (of_slab * groups), within = stage % (of_slab * groups);
  return {within / of_slab * s.stage_rows, slab * s.slab_bytes + within % of_slab * s.run_bytes};
}
__device__ inline const std::byte* address_of(const StreamedMatrix& s, StagePlace place, int row) {
  return s.data + static_cast<std::int64_t>(place.row + row) * s.row_bytes + place.byte;
}

/// Where a ring stands whose stages are counted when the program runs.
struct Position {
  int stage = 0;
  std::uint32_t parity = 0;
  __device__ void advance(int stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

template <bool boxes, bool evict_first>
__device__ void ask(const StreamedMatrix& s, int first, int end, std::uint32_t ring,
                    std::uint32_t full, std::uint32_t empty) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto stage_bytes = static_cast<std::uint32_t>(s.stage_rows * s.run_bytes);
  if (!boxes && s.prefetches) {
    for (int i = first; i < min(end, first + s.stages); ++i) {
      const StagePlace place = place_of(s, i);
      for (int row = lane; row < s.stage_rows; row += 32)
        prefetch_run(address_of(s, place, row), static_cast<std::uint32_t>(s.run_bytes));
    }
  }
  if (s.early) asm volatile("griddepcontrol.wait;" ::: "memory");
  const std::uint64_t policy = evict_first ? leaving_policy() : 0;
  Position position;
  for (int i = first; i < end; ++i) {
    const StagePlace place = place_of(s, i);
    const std::uint32_t barrier = full + 8 * position.stage;
    const std::uint32_t target =
        ring + position.stage * (stage_bytes + s.stage_rows * s.gap_bytes);
    wait(empty + 8 * position.stage, position.parity ^ 1);
    if (is_elected()) {
      arrive_expecting(barrier, stage_bytes);
      if constexpr (boxes) {
        const int box_bytes = s.stage_rows * box_row_bytes;
#pragma unroll 4
        for (int i = 0; i < s.run_bytes / box_row_bytes; ++i)
          load_box<evict_first>(target + i * box_bytes, s.map, (place.byte + i * box_row_bytes) / 4,
                                place.row, barrier, policy);
      } else {
#pragma unroll 4
        for (int row = 0; row < s.stage_rows; ++row)
          load_run<evict_first>(target + row * (s.run_bytes + s.gap_bytes), address_of(s, place, row),
                                static_cast<std::uint32_t>(s.run_bytes), barrier, policy);
      }
    }
    __syncwarp();
    position.advance(s.stages);
  }
  if (s.early) asm volatile("griddepcontrol.launch_dependents;");
}

__device__ void add_to(std::uint32_t* sum, std::uint32_t x) {
  x = __reduce_add_sync(~0u, x);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, x);
}

__device__ void add_stages(const StreamedMatrix& s, int count, std::uint32_t ring,
                           std::uint32_t full, std::uint32_t empty) {
  if (s.early) asm volatile("griddepcontrol.wait;" ::: "memory");
  const int stage_bytes = s.stage_rows * s.run_bytes;
  const int stage_stride = stage_bytes + s.stage_rows * s.gap_bytes;
  std::uint32_t sum = 0;
  Position position;
  for (int i = 0; i < count; ++i) {
    wait(full + 8 * position.stage, position.parity);
#pragma unroll 4
    for (int at = static_cast<int>(threadIdx.x) * 16; at < stage_bytes; at += reading_warps * 512) {
      uint4 x;
      asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                   : "r"(ring + position.stage * stage_stride + at + at / s.run_bytes * s.gap_bytes)
                   : "memory");
      sum += x.x + x.y + x.z + x.w;
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(empty + 8 * position.stage);
    position.advance(s.stages);
  }
  add_to(s.sum, sum);
}

/// One warp asks, the others add.
template <bool boxes, bool evict_first>
__global__ void __launch_bounds__(32 * (reading_warps + 1))
    stream_by_engine(const __grid_constant__ StreamedMatrix s) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  __shared__ std::uint64_t barriers[2 * most_stages];
  const std::uint32_t ring = (shared_address(shared) + 1023) / 1024 * 1024;
  const std::uint32_t full = shared_address(barriers), empty = full + 8 * most_stages;
  if (threadIdx.x == 0) {
    for (int i = 0; i < s.stages; ++i) {
      barrier_init(full + 8 * i, 1);
      barrier_init(empty + 8 * i, reading_warps);
    }
    barrier_init_fence();
  }
  __syncthreads();
  const long long all = static_cast<long long>(s.rows / s.stage_rows) * (s.row_bytes / s.run_bytes);
  const int first = static_cast<int>(all * blockIdx.x / gridDim.x);
  const int end = static_cast<int>(all * (blockIdx.x + 1) / gridDim.x);
  if (threadIdx.x / 32 == reading_warps) {
    ask<boxes, evict_first>(s, first, end, ring, full, empty);
  } else {
    add_stages(s, end - first, ring, full, empty);
  }
#endif
}

template <bool evict_first>
__global__ void __launch_bounds__(load_threads)
    stream_by_loads(const uint4* data, std::size_t vectors, std::uint32_t* sum) {
  constexpr std::size_t at_once = std::size_t{load_threads} * loads_each;
  std::uint32_t total = 0;
  for (std::size_t i = blockIdx.x * at_once + threadIdx.x; i < vectors; i += gridDim.x * at_once) {
    uint4 x[loads_each];
#pragma unroll
    for (int j = 0; j < loads_each; ++j) {
      const uint4* const from = data + i + j * load_threads;
      x[j] = evict_first ? __ldcs(from) : __ldcg(from);
    }
#pragma unroll
    for (int j = 0; j < loads_each; ++j) total += x[j].x + x[j].y + x[j].z + x[j].w;
  }
  add_to(sum, total);
}

__global__ void do_nothing(StreamedMatrix s) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if (s.early) {
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
#endif
}

__global__ void fill(std::uint32_t* data, std::size_t words) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < words;
       i += std::size_t{gridDim.x} * blockDim.x)
    data[i] = stream_word(static_cast<std::uint32_t>(i));
}

int slab_of(const StreamPattern& p, const StreamMatrix& m) {
  return p.slab_bytes == 0 ? m.row_bytes : p.slab_bytes;
}
int stages_of(const StreamPattern& p) {
  return std::min(most_stages, p.in_flight * 1024 / p.per_sm / (p.rows * (p.run_bytes + p.gap_bytes)));
}

}  // namespace

void fill_stream_matrix(void* data, std::size_t bytes, cudaStream_t stream) {
  fill<<<1024, 256, 0, stream>>>(static_cast<std::uint32_t*>(data), bytes / 4);
  FATHOM_CUDA(cudaGetLastError());
}

bool fits(const StreamPattern& p, const StreamMatrix& m) {
  if (p.means == StreamMeans::empty) return true;
  if (p.means == StreamMeans::loads) return m.bytes() % (16 * load_threads * loads_each) == 0;
  const int slab = slab_of(p, m);
  return m.rows % p.rows == 0 && slab % p.run_bytes == 0 && m.row_bytes % slab == 0 &&
         stages_of(p) >= 2;
}

void launch_stream(const StreamPattern& p, const StreamMatrix& m, std::uint32_t* sum, int sms,
                   cudaStream_t stream) {
  StreamedMatrix s{{},
                   static_cast<const std::byte*>(m.data),
                   m.rows,
                   m.row_bytes,
                   p.rows,
                   p.run_bytes,
                   slab_of(p, m),
                   p.gap_bytes,
                   stages_of(p),
                   p.early,
                   p.prefetches,
                   sum};
  const int blocks = p.blocks == 0 ? sms * p.per_sm : p.blocks;
  ClusterLaunch launch{blocks, 32 * (reading_warps + 1), 0, 1, stream, p.early};
  if (p.means == StreamMeans::empty) return launch_cluster(&do_nothing, launch, s);
  if (p.means == StreamMeans::loads) {
    const auto kernel = p.evict_first ? &stream_by_loads<true> : &stream_by_loads<false>;
    kernel<<<blocks, load_threads, 0, stream>>>(static_cast<const uint4*>(m.data), m.bytes() / 16,
                                                sum);
    FATHOM_CUDA(cudaGetLastError());
    return;
  }
  launch.shared_bytes = 1024 + s.stages * s.stage_rows * (s.run_bytes + s.gap_bytes);
  if (p.means == StreamMeans::boxes) {
    s.map = tensor_map(m.data, Element::f32, m.row_bytes / 4, m.rows, m.row_bytes / 4, p.rows);
    launch_cluster(p.evict_first ? &stream_by_engine<true, true> : &stream_by_engine<true, false>,
                   launch, s);
  } else {
    launch_cluster(p.evict_first ? &stream_by_engine<false, true> : &stream_by_engine<false, false>,
                   launch, s);
  }
}

}  // namespace fathom::gemm
