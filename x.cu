#include "gemm/fp32/fed_product.cuh"
using namespace fathom::gemm; using namespace fathom::gemm::fp32;
using T = FedTile<TILE>;
template __global__ void fathom::gemm::fp32::fed_product<T>(const __grid_constant__ FedProduct);
