#include "gemm/fp32/pipelined_launch.cuh"

namespace fathom::gemm::fp32 {

TilingChoice tiling_128x128x16() {
  return tiling_choice<Tiling<128, 128, 16, 8, 8, 2, 4, 8, 4, 2>>("128x128x16", 0.90);
}

}  // namespace fathom::gemm::fp32
