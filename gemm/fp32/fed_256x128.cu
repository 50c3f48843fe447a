#include "gemm/fp32/fed_launch.cuh"

namespace fathom::gemm::fp32 {

FedChoice fed_256x128() { return fed_choice<FedTile<8, 16, 4, 2, 8, 4, Major::k>>(); }

}  // namespace fathom::gemm::fp32
