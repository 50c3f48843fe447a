#pragma once

#include "gemm/blocks/brief_shapes.cuh"
#include "gemm/half/half_rung.cuh"

// The tiles of rung 16 that the copy engine feeds, in brief_tiles_fp16.cu and brief_tiles_bf16.cu.

namespace fathom::gemm {

extern template void launch_brief<AnyLayout, half::Types<__half>>(int, const Arguments&,
                                                                  const Workspace&, cudaStream_t);
extern template void launch_brief<AnyLayout, half::Types<__nv_bfloat16>>(int, const Arguments&,
                                                                         const Workspace&,
                                                                         cudaStream_t);
extern template void launch_shape<Columns192<AnyLayout>, half::Types<__half>>(const Arguments&,
                                                                              const Workspace&,
                                                                              cudaStream_t);
extern template void launch_shape<Columns192<AnyLayout>, half::Types<__nv_bfloat16>>(
    const Arguments&, const Workspace&, cudaStream_t);

}  // namespace fathom::gemm
