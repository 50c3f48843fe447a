#include "gemm/best/fp32/pipelined.cuh"

namespace fathom::gemm::fp32 {

TilingChoice tiling_128x128x8() {
  return tiling_choice<Tiling<128, 128, 8, 8, 8, 2, 4, 8, 5, 2>>("128x128x8", 0.86);
}

}  // namespace fathom::gemm::fp32
