#pragma once

#include "gemm/blocks/tma_shapes.cuh"
#include "gemm/half/rungs.h"
#include "gemm/half/types.h"

// What the Hopper rungs of fp16 and bf16 share: one template each, for both types.

namespace fathom::gemm::half {

/// The layout that a rung on the way is compiled for: BLAS's NN, the first operand of the row-major
/// product along k, the second along n. Others are transposed into the workspace, inside the
/// timing.
inline constexpr MajorsTaken plain_layout{Major::k, Major::outer};

}  // namespace fathom::gemm::half

namespace fathom::gemm {

/// In 12_split_depth.cu, 13_all_layouts.cu and 15_deferred_stores.cu, which the rungs after them
/// use too.
extern template void launch_skinny<AnyLayout, half::Types<__half>>(const Arguments&,
                                                                   const Workspace&, cudaStream_t);
extern template void launch_skinny<AnyLayout, half::Types<__nv_bfloat16>>(const Arguments&,
                                                                          const Workspace&,
                                                                          cudaStream_t);
extern template void launch_any_shape<AnyLayout, half::Types<__half>>(const Arguments&,
                                                                      const Workspace&,
                                                                      cudaStream_t);
extern template void launch_any_shape<AnyLayout, half::Types<__nv_bfloat16>>(const Arguments&,
                                                                             const Workspace&,
                                                                             cudaStream_t);
extern template void launch_best_shape<AnyLayout, half::Types<__half>>(const Arguments&,
                                                                       const Workspace&,
                                                                       cudaStream_t);
extern template void launch_best_shape<AnyLayout, half::Types<__nv_bfloat16>>(const Arguments&,
                                                                              const Workspace&,
                                                                              cudaStream_t);
extern template void launch_shape<ColumnHalves<AnyLayout>, half::Types<__half>>(const Arguments&,
                                                                                const Workspace&,
                                                                                cudaStream_t);
extern template void launch_shape<ColumnHalves<AnyLayout>, half::Types<__nv_bfloat16>>(
    const Arguments&, const Workspace&, cudaStream_t);

}  // namespace fathom::gemm

namespace fathom::gemm::half {

/// The rung of a shape, for the class of fp16 or of bf16.
template <class Shape>
Rung rung_of_shape(Class of, const char* name) {
  return of == Class::fp16 ? shape_rung<Shape, Types<__half>>(of, name)
                           : shape_rung<Shape, Types<__nv_bfloat16>>(of, name);
}

}  // namespace fathom::gemm::half
