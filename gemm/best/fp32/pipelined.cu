#include "gemm/best/fp32/pipelined.cuh"

namespace fathom::gemm::fp32 {

std::span<const TilingChoice> tilings() {
  static const TilingChoice choices[] = {
      tiling_128x256x16(), tiling_128x256x8(),
      tiling_choice<Tiling<256, 128, 16, 16, 8, 4, 2, 4, 4, 1>>("256x128x16", 0.93),
      tiling_choice<Tiling<128, 128, 8, 8, 8, 2, 4, 8, 5, 2>>("128x128x8", 0.86),
      tiling_choice<Tiling<256, 16, 16, 8, 4, 4, 1, 8, 4, 3>>("256x16x16", 0.80)};
  return choices;
}

}  // namespace fathom::gemm::fp32
