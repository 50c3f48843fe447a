#include <stdexcept>
#include <type_traits>

#include "harness/cuda_check.h"
#include "probes/memory_bandwidth/stream.cuh"

namespace fathom::memory_bandwidth {
namespace {

constexpr int max_threads = 1024;

/// Global memory by one load instruction; plain stores.
template <Path path>
struct Global {
  using Address = std::uint64_t;
  using Offset = std::uint64_t;

  static __device__ __forceinline__ void load(Vector<4>& v, Address p) {
    if constexpr (path == Path::cached) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(p) : "memory");
    } else if constexpr (path == Path::l2_only) {
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(p) : "memory");
    } else {
      asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(p) : "memory");
    }
  }

  static __device__ __forceinline__ void load(Vector<8>& v, Address p) {
    if constexpr (path == Path::cached) {
      asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                   : "=r"(v.word[0]), "=r"(v.word[1])
                   : "l"(p)
                   : "memory");
    } else if constexpr (path == Path::l2_only) {
      asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];"
                   : "=r"(v.word[0]), "=r"(v.word[1])
                   : "l"(p)
                   : "memory");
    } else {
      asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
                   : "=r"(v.word[0]), "=r"(v.word[1])
                   : "l"(p)
                   : "memory");
    }
  }

  static __device__ __forceinline__ void load(Vector<16>& v, Address p) {
    if constexpr (path == Path::cached) {
      asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                   : "l"(p)
                   : "memory");
    } else if constexpr (path == Path::l2_only) {
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                   : "l"(p)
                   : "memory");
    } else {
      asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                   : "l"(p)
                   : "memory");
    }
  }

  static __device__ __forceinline__ void store(Address p, const Vector<4>& v) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v.word[0]) : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<8>& v) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v.word[0]), "r"(v.word[1])
                 : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<16>& v) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.word[0]),
                 "r"(v.word[1]), "r"(v.word[2]), "r"(v.word[3])
                 : "memory");
  }
};

template <Operation operation, Path path, int width, int loads>
__global__ void __launch_bounds__(max_threads) stream_global(GlobalRun run) {
  using Space = Global<path>;
  const Walk& walk = run.walk;
  const std::uint64_t base =
      reinterpret_cast<std::uint64_t>(operation == Operation::store ? run.dst : run.src);
  const std::uint64_t end = base + blockIdx.x * walk.block_region + walk.span;
  const std::uint64_t p =
      base + walk.start(blockIdx.x, threadIdx.x / warp_lanes) + threadIdx.x % warp_lanes * width;
  const Vector<width> value = value_to_store<width>(blockIdx.x * blockDim.x + threadIdx.x);
  __syncthreads();
  Stopwatch stopwatch(run.reports);
  std::uint32_t sum = 0;
  if constexpr (operation == Operation::load) {
    sum = load_stream<width, loads, Space>(p, end, walk.step, walk.span, walk.tiles);
  } else if constexpr (operation == Operation::store) {
    store_stream<width, loads, Space>(p, end, walk.step, walk.span, walk.tiles, value);
  } else {
    const std::uint64_t distance = reinterpret_cast<std::uint64_t>(run.dst) - base;
    copy_stream<width, loads, Space>(p, end, distance, walk.step, walk.span, walk.tiles);
  }
  stopwatch.stop(sum);
}

using Kernel = void (*)(GlobalRun);

template <Operation operation, Path path>
Kernel kernel_of_width(const Access& access) {
  if (access.loads == 4) {
    switch (access.width) {
      case 4:
        return stream_global<operation, path, 4, 4>;
      case 8:
        return stream_global<operation, path, 8, 4>;
      case 16:
        return stream_global<operation, path, 16, 4>;
    }
  }
  if constexpr (operation == Operation::load) {
    if (access.width == 16) {
      switch (access.loads) {
        case 1:
          return stream_global<operation, path, 16, 1>;
        case 2:
          return stream_global<operation, path, 16, 2>;
        case 8:
          return stream_global<operation, path, 16, 8>;
      }
    }
  }
  throw std::invalid_argument("no kernel for this width and number of accesses in flight");
}

Kernel kernel_of(const Access& access) {
  switch (access.operation) {
    case Operation::load:
      switch (access.path) {
        case Path::cached:
          return kernel_of_width<Operation::load, Path::cached>(access);
        case Path::l2_only:
          return kernel_of_width<Operation::load, Path::l2_only>(access);
        case Path::no_allocate:
          return kernel_of_width<Operation::load, Path::no_allocate>(access);
      }
      break;
    case Operation::store:
      return kernel_of_width<Operation::store, Path::l2_only>(access);
    case Operation::copy:
      if (access.path == Path::l2_only) {
        return kernel_of_width<Operation::copy, Path::l2_only>(access);
      }
      break;
  }
  throw std::invalid_argument("copies load by ld.global.cg alone");
}

}  // namespace

void prepare_global(const Access& access) {
  FATHOM_CUDA(cudaFuncSetAttribute(kernel_of(access),
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxL1));
}

int resident_blocks(const Access& access, int threads) {
  int blocks = 0;
  FATHOM_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of(access), threads, 0));
  return blocks;
}

void launch_global(const GlobalRun& run, cudaStream_t stream) {
  kernel_of(run.access)<<<static_cast<unsigned>(run.blocks), static_cast<unsigned>(run.threads), 0,
                          stream>>>(run);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::memory_bandwidth
