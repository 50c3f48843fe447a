// Rung 16's tiles that the copy engine feeds, of bf16.

#include "gemm/half/brief_tiles.cuh"

namespace fathom::gemm {

template void launch_brief<AnyLayout, half::Types<__nv_bfloat16>>(int, const Arguments&,
                                                                  const Workspace&, cudaStream_t);
template void launch_shape<Columns192<AnyLayout>, half::Types<__nv_bfloat16>>(const Arguments&,
                                                                              const Workspace&,
                                                                              cudaStream_t);

}  // namespace fathom::gemm
