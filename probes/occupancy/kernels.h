#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace fathom::occupancy_probe {

/// How the copy is laid over the grid.
enum class GridKind {
  one_shot,    ///< a thread copies its elements once and ends: as many blocks as the data needs
  persistent,  ///< one wave of blocks walks over the data in a grid-stride loop
};

/// A copy kernel: every thread loads `vectors` (1 or 4) elements of 16 bytes at a time before it
/// stores them, while it keeps `ballast` further registers occupied.
struct Variant {
  GridKind grid = GridKind::one_shot;
  int vectors = 1;
  int ballast = 0;  ///< one of `ballasts`, for persistent grids with vectors = 1; else 0
};

/// Chosen so that the kernels' register counts lie between the steps of the occupancy staircase.
inline constexpr int ballasts[] = {0, 64, 80, 112, 164, 214};

struct Launch {
  const std::byte* src;
  std::byte* dst;
  std::size_t bytes;  ///< a multiple of 16 x vectors x threads
  int blocks;
  int threads;
  int dynamic_shared;
};

void launch_copy(const Variant& variant, const Launch& launch, cudaStream_t stream);

/// What the compiler and the driver say of a variant.
struct KernelFacts {
  int registers = 0;         ///< per thread
  int static_shared = 0;     ///< bytes
  int local_bytes = 0;       ///< per thread; above 0 the ballast was spilled
  int resident_blocks = 0;   ///< per SM, cudaOccupancyMaxActiveBlocksPerMultiprocessor
};
KernelFacts facts_of(const Variant& variant, int threads, int dynamic_shared);

}  // namespace fathom::occupancy_probe
