#include "gemm/best/fp32/pipelined.cuh"

namespace fathom::gemm::fp32 {

TilingChoice tiling_128x256x16() {
  return tiling_choice<Tiling<128, 256, 16, 8, 16, 2, 4, 8, 4, 1>>("128x256x16", 0.93);
}
TilingChoice tiling_128x256x8() {
  return tiling_choice<Tiling<128, 256, 8, 8, 16, 2, 4, 8, 5, 1>>("128x256x8", 0.92);
}

}  // namespace fathom::gemm::fp32
