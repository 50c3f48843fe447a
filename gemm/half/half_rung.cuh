#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <string>

#include "gemm/blocks/engine_product.cuh"
#include "gemm/half/rungs.h"

// What the Hopper rungs of fp16 and bf16 share: one template each, for both types.

namespace fathom::gemm::half {

template <class Element>
struct Types {
  using In = Element;
  using Out = Element;
  using Scalar = float;
};

/// The layout that a rung on the way is compiled for: BLAS's NN, the first operand of the row-major product
/// along k, the second along n. Others are transposed into the workspace, inside the timing.
inline constexpr MajorsTaken plain_layout{Major::k, Major::outer};
template <class Shape, class Element>
void launch_shape(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const EngineOperands operands =
      EngineOperands::prepared(arguments, Shape::majors, workspace.data, stream);
  launch_engine_product<Shape, Types<Element>>(arguments, operands, false, stream);
}

/// Fills in what follows from the type and the layouts that a rung takes.
template <class Element>
Rung hopper_rung(Class of, const char* name, const MajorsTaken& taken) {
  Rung rung;
  rung.id = std::string(traits(of).name) + "/" + name;
  rung.of = of;
  rung.capability = 90;
  rung.exact_capability = true;
  rung.takes_own_path = [taken](const Problem& p) { return EngineOperands::copy_bytes(p, taken) == 0; };
  rung.workspace_bytes = [taken](const Problem& p, int) { return EngineOperands::copy_bytes(p, taken); };
  return rung;
}

template <class Shape, class Element>
Rung shape_rung(Class of, const char* name) {
  using Config = EngineConfig<Shape, Types<Element>, Major::k, Major::outer>;
  constexpr Design d = Shape::design;
  Rung rung = hopper_rung<Element>(of, name, Shape::majors);
  rung.kernel = {reinterpret_cast<const void*>(&specialised_product<Config>), d.threads(),
                 specialised_shared_bytes<d>(), d.m(), d.n, stage_depth<Element>};
  rung.launch = &launch_shape<Shape, Element>;
  return rung;
}

/// The rung of a shape, for the class of fp16 or of bf16.
template <class Shape>
Rung rung_of_shape(Class of, const char* name) {
  return of == Class::fp16 ? shape_rung<Shape, __half>(of, name) : shape_rung<Shape, __nv_bfloat16>(of, name);
}

}  // namespace fathom::gemm::half
