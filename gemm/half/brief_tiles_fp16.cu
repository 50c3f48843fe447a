// Rung 16's tiles that the copy engine feeds, of fp16.

#include "gemm/half/brief_tiles.cuh"

namespace fathom::gemm {

template void launch_brief<AnyLayout, half::Types<__half>>(int, const Arguments&, const Workspace&,
                                                           cudaStream_t);
template void launch_shape<Columns192<AnyLayout>, half::Types<__half>>(const Arguments&,
                                                                       const Workspace&,
                                                                       cudaStream_t);

}  // namespace fathom::gemm
