#pragma once

#include <string>

#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tma_product.cuh"
#include "gemm/half/types.h"

// Host code of the rungs below Hopper's own instructions. A rung's kernels are a type `Kernels`
// that has, for operands that lie along `a` and `b`, `function<Element, a, b>()` and
// `shared_bytes<Element, a, b>()`, and the `Tile` of a block. They take the product in row-major
// terms, its tiles, and whether four neighbours of C can be stored at once.

namespace fathom::gemm::half {

template <class Element>
using HalfProduct = Product<Element, Element, float>;

/// Calls `use` with the two majors as template arguments.
template <class Use>
void for_majors(Major a, Major b, Use&& use) {
  if (a == Major::k) {
    if (b == Major::k) return use.template operator()<Major::k, Major::k>();
    return use.template operator()<Major::k, Major::outer>();
  }
  if (b == Major::k) return use.template operator()<Major::outer, Major::k>();
  use.template operator()<Major::outer, Major::outer>();
}

/// The product of these operands, which may be copies of the arguments' own.
template <class Element>
HalfProduct<Element> product_of(const Arguments& arguments, const TmaOperands& operands) {
  auto p = row_major<Element, Element, float>(arguments);
  const auto view = [](const TmaOperand& x, bool lines_are_rows) {
    const std::int64_t stride = x.stride;
    return Matrix<const Element>{static_cast<const Element*>(x.data), lines_are_rows ? stride : 1,
                                 lines_are_rows ? 1 : stride};
  };
  p.a = view(operands.a, operands.a.major == Major::k);
  p.b = view(operands.b, operands.b.major == Major::outer);
  return p;
}

/// Launches the kernel for the operands as they lie; where their lines do not start on 16 bytes,
/// they are copied to the workspace first.
template <class Kernels, class Element>
void launch_tile_rung(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const TmaOperands operands =
      TmaOperands::prepared(arguments, MajorsTaken{}, workspace.data, stream);
  const HalfProduct<Element> p = product_of<Element>(arguments, operands);
  const TileGrid tiles(p.m, p.n, Kernels::Tile::m, Kernels::Tile::n);
  const bool vectors =
      columns_aligned(arguments.problem.ldc, traits(arguments.problem.of).output, 8);
  for_majors(operands.a.major, operands.b.major, [&]<Major a, Major b>() {
    const auto kernel = Kernels::template function<Element, a, b>();
    constexpr int shared_bytes = Kernels::template shared_bytes<Element, a, b>();
    if constexpr (shared_bytes > 48 * 1024) {
      FATHOM_CUDA(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    }
    kernel<<<tiles.blocks(), Kernels::Tile::threads, shared_bytes, stream>>>(
        p, tiles.tiles_m, tiles.tiles_n, vectors);
    FATHOM_CUDA(cudaGetLastError());
  });
}

/// Warp-level products of the tensor cores that `fragments` of 16 x 16 x 16 take: two of 16 x 8 x
/// 16, of which Turing needs two each.
inline CounterModel tensor_instructions(double fragments, int capability) {
  return {"tensor_instructions", fragments * (capability >= 80 ? 2 : 4),
          "products of 16 x 8 x 16 (Turing: x 8) that whole tiles take"};
}

/// Fragments of 16 x 16 x 16 that the tiles of a product take, whole even at the edges.
template <class Tile>
double tile_fragments(const Problem& p) {
  const auto blocks = static_cast<double>(
      TileGrid(static_cast<int>(p.n), static_cast<int>(p.m), Tile::m, Tile::n).blocks());
  const auto steps = static_cast<double>(ceil_div(p.k, Tile::k));
  return blocks * steps * (Tile::m / 16) * (Tile::n / 16) * (Tile::k / 16);
}

/// ldmatrix that the products of whole tiles of MmaTile take, four 8 x 8 matrices each.
template <class Tile>
CounterModel matrix_loads(const Problem& p) {
  const double of_a_warp =
      (Tile::warp_m / 16 + Tile::warp_n / 16) / (Tile::warp_m / 16.0 * Tile::warp_n / 16);
  return {"shared_matrix_load_instructions", tile_fragments<Tile>(p) * of_a_warp,
          "a warp's fragments of 16 of k, each element loaded once"};
}

/// Fills in what follows from the kernels; `name` is the file's.
template <class Kernels, class Element>
Rung tile_rung(Class of, const char* name) {
  Rung rung;
  rung.id = std::string(traits(of).name) + "/" + name;
  rung.of = of;
  rung.capability = of == Class::bf16 ? 80 : 75;
  rung.takes_own_path = [](const Problem& p) {
    return TmaOperands::copy_bytes(p, MajorsTaken{}) == 0;
  };
  rung.workspace_bytes = [](const Problem& p, int) {
    return TmaOperands::copy_bytes(p, MajorsTaken{});
  };
  rung.counters = [](const Problem& p, int capability) {
    return std::vector{tensor_instructions(tile_fragments<typename Kernels::Tile>(p), capability)};
  };
  // BLAS's NN.
  const auto kernel = Kernels::template function<Element, Major::k, Major::outer>();
  rung.kernel = {reinterpret_cast<const void*>(kernel),
                 Kernels::Tile::threads,
                 Kernels::template shared_bytes<Element, Major::k, Major::outer>(),
                 Kernels::Tile::m,
                 Kernels::Tile::n,
                 Kernels::Tile::k};
  rung.launch = &launch_tile_rung<Kernels, Element>;
  return rung;
}

}  // namespace fathom::gemm::half
