#include "probes/instructions/wgmma_kernels.cuh"

namespace fathom::instructions {
namespace {

template <int N, bool R>
struct WgmmaE4m3 : WgmmaOp<E4m3, F32Sum, N, R> {};
template <int N, bool R>
struct WgmmaS8 : WgmmaOp<S8, S32Sum, N, R> {};

}  // namespace

std::span<const Kernels> wgmma_byte_kernels() {
  static const std::vector<Kernels> list = [] {
    std::vector<Kernels> all;
    add_shapes<WgmmaE4m3>(all, "WgmmaE4m3");
    add_shapes<WgmmaS8>(all, "WgmmaS8");
    return all;
  }();
  return list;
}

}  // namespace fathom::instructions
