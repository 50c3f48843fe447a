#include <stdexcept>

#include "harness/cuda_check.h"
#include "probes/memory_bandwidth/global_stream.cuh"

namespace fathom::memory_bandwidth {
namespace {

template <Operation operation, Path path, int width, int loads>
__global__ void __launch_bounds__(max_threads) stream_global(GlobalRun run) {
  walk_global<operation, path, width, loads>(run, blockIdx.x);
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
      if (access.path == Path::l2_only)
        return kernel_of_width<Operation::copy, Path::l2_only>(access);
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
