#pragma once

#include <string>

#include "gemm/blocks/tma_product.cuh"

// Rungs whose operands come by TMA, from a shape (gemm/blocks/tma_product.cuh) and
// types.

namespace fathom::gemm {

template <class Shape, class Types>
void launch_shape(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const TmaOperands operands =
      TmaOperands::prepared(arguments, Shape::majors, workspace.data, stream);
  launch_tma_product<Shape, Types>(arguments, operands, false, stream);
}

/// Fills in what follows from the type and the layouts that a rung takes.
inline Rung hopper_rung(Class of, const char* name, const MajorsTaken& taken) {
  Rung rung;
  rung.id = std::string(traits(of).name) + "/" + name;
  rung.of = of;
  rung.capability = 90;
  rung.exact_capability = true;
  rung.takes_own_path = [taken](const Problem& p) {
    return TmaOperands::copy_bytes(p, taken) == 0;
  };
  rung.workspace_bytes = [taken](const Problem& p, int) {
    return TmaOperands::copy_bytes(p, taken);
  };
  return rung;
}

/// What a rung reports of a shape. `function`: the kernel of any shape, since it tells the template
/// alone (gemm/rung_workload.cpp), and to name this one would compile it here too.
template <class Shape, class Types>
RungKernel tma_kernel(const void* function) {
  constexpr KernelConfig d = Shape::config;
  return {function,  d.threads(), specialised_shared_bytes<d>(),
          d.m(),     d.n,         stage_depth<typename Types::In>,
          d.split_k, d.cluster_m, d.cluster_n};
}

template <class Shape, class Types>
Rung shape_rung(Class of, const char* name) {
  using Kernel = TmaKernel<Shape, Types, Shape::majors.a.value_or(Major::k),
                           Shape::majors.b.value_or(Major::outer)>;
  Rung rung = hopper_rung(of, name, Shape::majors);
  rung.kernel =
      tma_kernel<Shape, Types>(reinterpret_cast<const void*>(&specialised_product<Kernel>));
  rung.launch = &launch_shape<Shape, Types>;
  return rung;
}

}  // namespace fathom::gemm
