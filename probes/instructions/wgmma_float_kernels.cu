#include "probes/instructions/wgmma_kernels.cuh"

namespace fathom::instructions {
namespace {

template <int N, bool R>
struct WgmmaF16 : WgmmaOp<F16, F32Sum, N, R> {};
template <int N, bool R>
struct WgmmaBf16 : WgmmaOp<Bf16, F32Sum, N, R> {};
template <int N, bool R>
struct WgmmaTf32 : WgmmaOp<Tf32, F32Sum, N, R> {};

}  // namespace

std::span<const Kernels> wgmma_float_kernels() {
  static const std::vector<Kernels> list = [] {
    std::vector<Kernels> all;
    add_shapes<WgmmaF16>(all, "WgmmaF16");
    add_shapes<WgmmaBf16>(all, "WgmmaBf16");
    add_shapes<WgmmaTf32>(all, "WgmmaTf32");
    return all;
  }();
  return list;
}

}  // namespace fathom::instructions
