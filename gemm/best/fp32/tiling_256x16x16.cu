#include "gemm/best/fp32/pipelined.cuh"

namespace fathom::gemm::fp32 {

TilingChoice tiling_256x16x16() {
  return tiling_choice<Tiling<256, 16, 16, 8, 4, 4, 1, 8, 4, 3>>("256x16x16", 0.80);
}

}  // namespace fathom::gemm::fp32
