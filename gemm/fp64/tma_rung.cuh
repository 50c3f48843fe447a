#pragma once

#include <string>

#include "gemm/fp64/tma_launch.cuh"

namespace fathom::gemm::fp64 {

/// The rung of a shape: what follows from it.
template <class Shape>
Rung shape_rung(const char* name) {
  using Kernel = TmaKernel<Shape, Major::outer, Major::k>;
  constexpr KernelConfig d = Shape::config;
  Rung rung;
  rung.id = std::string("fp64/") + name;
  rung.of = Class::fp64;
  rung.capability = 90;
  rung.exact_capability = true;
  // A KernelConfig is in BLAS's terms, a rung's kernel in row-major ones.
  rung.kernel = RungKernel{reinterpret_cast<const void*>(&tma_product<Kernel>),
                           d.threads(),
                           d.shared_bytes(),
                           d.m(),
                           d.n(),
                           stage_depth,
                           d.stream_k ? 0 : 1,
                           1,
                           d.cluster_n}
                    .transposed();
  rung.launch = &launch_shape<Shape>;
  rung.takes_own_path = [](const Problem& p) { return copied_bytes(p) == 0; };
  rung.workspace_bytes = [](const Problem& p, int sms) {
    return stream_bytes<Shape::config>(sms) + copied_bytes(p);
  };
  return rung;
}

}  // namespace fathom::gemm::fp64
