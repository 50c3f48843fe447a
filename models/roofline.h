#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fathom::models {

/// A level of memory: what it can deliver at most, and what a kernel moves through it.
struct MemoryWork {
  std::string name;  ///< "DRAM", "L2", ...
  double bytes_per_second = 0;
  double bytes = 0;  ///< reads and writes together
};

/// The arithmetic units: what they can deliver at most, and what a kernel asks of them.
struct ArithmeticWork {
  std::string name;  ///< "bf16", "fp32", ...
  double flops_per_second = 0;
  double flops = 0;
};

/// A kernel at one level of memory.
struct RooflineLevel {
  std::string name;
  double bytes = 0;
  /// FLOP per byte; empty where no byte moves.
  std::optional<double> intensity{};
  /// FLOP/s that this level and the arithmetic ceiling allow: min(peak, intensity x bandwidth).
  double attainable = 0;
  double seconds = 0;  ///< bytes / bandwidth
};

struct Roofline {
  std::vector<RooflineLevel> levels;  ///< in the order given
  double compute_seconds = 0;         ///< FLOPs / peak
  double seconds = 0;                 ///< the least time: the longest of all of these
  double attainable = 0;              ///< FLOPs / seconds
  std::string bound_by;               ///< the ceiling whose time that is; arithmetic on a tie
  bool memory_bound = false;
};

/// FLOP per byte at which a kernel needs both in full, from which on arithmetic bounds: peak /
/// bandwidth.
double ridge_point(const MemoryWork& memory, const ArithmeticWork& arithmetic);

/// Where a kernel lands under its ceilings. Williams, Waterman and Patterson, "Roofline: an
/// insightful visual performance model for multicore architectures" (2009); several levels of
/// memory after Ilic, Pratas and Sousa, "Cache-aware Roofline model" (2014), each with its own
/// traffic. A lower bound of the time: it takes all levels and the arithmetic to overlap in full.
///
/// Throws std::invalid_argument where a ceiling is not positive and finite, an amount is negative
/// or not finite, or the kernel does nothing at all.
Roofline roofline(const std::vector<MemoryWork>& memory, const ArithmeticWork& arithmetic);

/// A matrix product C = A B of m x k by k x n elements that reads each operand and writes the
/// result once: the highest intensity that it can have.
struct MatrixProduct {
  double m = 0, n = 0, k = 0;
  double input_bytes = 2;   ///< per element of A and B
  double output_bytes = 2;  ///< per element of C
};

/// 2 m n k FLOP. Throws std::invalid_argument where a size is not positive.
double matrix_product_flops(const MatrixProduct& product);
/// (m k + k n) inputs and m n results. Throws likewise.
double matrix_product_bytes(const MatrixProduct& product);

}  // namespace fathom::models
