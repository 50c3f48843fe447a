#include "gemm/best/fp32/pipelined.cuh"

namespace fathom::gemm::fp32 {

TilingChoice tiling_256x128x16() {
  return tiling_choice<Tiling<256, 128, 16, 16, 8, 4, 2, 4, 4, 1>>("256x128x16", 0.93);
}

}  // namespace fathom::gemm::fp32
