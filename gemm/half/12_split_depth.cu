// The blocks of a cluster share the k of one tile, and add up through each other's shared memory.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm {

template void launch_skinny<AnyLayout, half::Types<__half>>(const Arguments&, const Workspace&,
                                                            cudaStream_t);
template void launch_skinny<AnyLayout, half::Types<__nv_bfloat16>>(const Arguments&,
                                                                   const Workspace&, cudaStream_t);

}  // namespace fathom::gemm

namespace fathom::gemm::half {
namespace {

template <class Element>
Rung rung_of(Class of) {
  Rung rung = shape_rung<Columns128<AnyLayout>, Types<Element>>(of, "12_split_depth");
  rung.idea =
      "Clusters share the k of a tile: each block multiplies a part of it, and they add their "
      "sums in a fixed order through each other's shared memory. The small side is the product's "
      "columns, 16 to 128 a tile.";
  rung.gain =
      "A skinny product has fewer tiles than the GPU has SMs, 64 at n = 8192; 128 blocks load "
      "instead, and the memory bus is the limit (28 us of an H200's for 8192 x 8192 elements), "
      "without a workspace or a second kernel.";
  rung.launch = &launch_skinny<AnyLayout, Types<Element>>;
  rung.kernel_for = [function = rung.kernel.function](const Problem& p, int) {
    return skinny_kernel<AnyLayout, Types<Element>>(function, p);
  };
  return rung;
}

}  // namespace

Rung split_depth(Class of) {
  return of == Class::fp16 ? rung_of<__half>(of) : rung_of<__nv_bfloat16>(of);
}

}  // namespace fathom::gemm::half
