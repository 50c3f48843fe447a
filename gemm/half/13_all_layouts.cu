// The best of the rungs before, for every layout and shape.

#include "gemm/half/skinny.cuh"

namespace fathom::gemm::half {
namespace {

struct Shape {
  static constexpr Design design{.n = 256,
                                 .stages = 4,
                                 .cluster_m = 2,
                                 .band = 8,
                                 .persistent = true,
                                 .engine_stores = true};
  static constexpr MajorsTaken majors{};
};

template <class Element>
void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (is_skinny(arguments.problem)) return launch_skinny<Element>(arguments, workspace, stream);
  launch_shape<Shape, Element>(arguments, workspace, stream);
}

template <class Element>
Rung rung_of(Class of) {
  Rung rung = shape_rung<Shape, Element>(of, "13_all_layouts");
  rung.idea = "The last rung's tiles with either operand contiguous along k or along its other dimension, as wgmma "
              "reads both, and the split k for skinny products.";
  rung.gain = "No transposition costs a copy any more; at the ladder's own layout it is the kernel of 11.";
  rung.contender = true;
  rung.launch = &launch<Element>;
  return rung;
}

}  // namespace

Rung all_layouts(Class of) { return of == Class::fp16 ? rung_of<__half>(of) : rung_of<__nv_bfloat16>(of); }

}  // namespace fathom::gemm::half
