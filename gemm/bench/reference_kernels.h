#pragma once

#include <cuda_runtime.h>

#include "gemm/bench/rung.h"
#include "gemm/bench/tolerance.h"

namespace fathom::gemm {

/// The product and its magnitude |alpha| |A||B| + |beta||C| in fp64, of every `column_step`-th
/// column of C from the first on: column s of `values` and `magnitudes`, both m rows without gaps,
/// is column s * column_step of C. Reads C's old elements from `arguments.c`, which stays as it is.
///
/// A double holds the product of two elements of every other class exactly (twice 24 bits) and adds
/// 2^29 times as finely as fp32; for fp64 itself, sums are kept in two doubles, with the errors of
/// each product and addition (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005, Dot2: as
/// if computed in twice the precision and then rounded).
struct Reference {
  double* values;
  double* magnitudes;
  int column_step;
};
void launch_reference_product(const Arguments& arguments, const Reference& reference,
                              cudaStream_t stream);

/// What a comparison with the reference found. Zero it before.
struct Deviation {
  double error_squares, value_squares, magnitude_squares;  ///< sums over the columns compared
  double worst;                    ///< largest error against what is allowed for that element
  unsigned long long outside;      ///< elements that are off by more than allowed, or not finite
  unsigned long long not_finite;   ///< of all elements, in columns that are not compared too
  unsigned long long gap_written;  ///< elements between the columns that are not as they were
};
/// Compares the C of `arguments`, whose gaps between columns held 0xFF bytes before, and of which
/// no byte may be written where m or n is 0: one element at the least has to be there.
void launch_compare(const Arguments& arguments, const Reference& reference,
                    const Tolerance& tolerance, Deviation* deviation, cudaStream_t stream);

}  // namespace fathom::gemm
