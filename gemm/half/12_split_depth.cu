// The blocks of a cluster share the k of one tile, and add up through each other's shared memory.

#include "gemm/half/skinny.cuh"

namespace fathom::gemm::half {

template <class Element>
void launch_skinny(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const EngineOperands operands =
      EngineOperands::prepared(arguments, MajorsTaken{}, workspace.data, stream);
  const Problem& p = arguments.problem;
  // BLAS's m is the number of columns in row-major terms.
  const bool swapped = p.n < p.m;
  const std::int64_t columns = swapped ? p.n : p.m;
  if (columns <= Skinny16::design.n) {
    launch_engine_product<Skinny16, Types<Element>>(arguments, operands, swapped, stream);
  } else if (columns <= Skinny64::design.n) {
    launch_engine_product<Skinny64, Types<Element>>(arguments, operands, swapped, stream);
  } else {
    launch_engine_product<Skinny128, Types<Element>>(arguments, operands, swapped, stream);
  }
}
template void launch_skinny<__half>(const Arguments&, const Workspace&, cudaStream_t);
template void launch_skinny<__nv_bfloat16>(const Arguments&, const Workspace&, cudaStream_t);

namespace {

template <class Element>
Rung rung_of(Class of) {
  Rung rung = shape_rung<Skinny128, Element>(of, "12_split_depth");
  rung.idea = "Clusters share the k of a tile: each block multiplies a part of it, and they add their sums in a "
              "fixed order through each other's shared memory. The small side is the product's columns, 16 to 128 a tile.";
  rung.gain = "A skinny product has fewer tiles than the GPU has SMs; so all of them load, and the memory bus is "
              "the limit, without a workspace or a second kernel.";
  rung.launch = &launch_skinny<Element>;
  return rung;
}

}  // namespace

Rung split_depth(Class of) { return of == Class::fp16 ? rung_of<__half>(of) : rung_of<__nv_bfloat16>(of); }

}  // namespace fathom::gemm::half
