#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace fathom::occupancy {

/// A copy kernel: every thread loads `vectors` (1 or 4) elements of 16 bytes at a time before it
/// stores them, while it keeps `ballast` further registers occupied.
struct Variant {
  /// One wave of blocks walks over the data in a grid-stride loop; else a thread copies its
  /// elements once and ends: as many blocks as the data needs.
  bool persistent = false;
  int vectors = 1;
  int ballast = 0;  ///< one of `ballasts`, for persistent grids with vectors = 1; else 0
  friend constexpr bool operator==(const Variant&, const Variant&) = default;
};

/// Chosen so that the kernels' register counts lie between the steps of the occupancy staircase.
inline constexpr int ballasts[] = {0, 64, 80, 112, 164, 214};

/// Copies `count` elements, a multiple of vectors x threads. `unlikely`: any number.
using Kernel = void (*)(const uint4* src, uint4* dst, std::size_t count, unsigned unlikely);
/// Throws std::invalid_argument for a variant that does not exist.
Kernel kernel_of(const Variant& variant);

}  // namespace fathom::occupancy
