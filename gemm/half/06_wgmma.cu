// A warpgroup's asynchronous products, straight from tiles that TMA puts into shared
// memory.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm::half {
namespace {

struct Shape {
  static constexpr KernelConfig config{
      .consumers = 1, .m_blocks = 2, .n = 128, .stages = 3, .band = 1};
  static constexpr MajorsTaken majors = plain_layout;
};
constexpr KernelConfig d = Shape::config;
constexpr int threads = 128;
constexpr int shared_bytes = specialised_shared_bytes<d>();

/// The ring's first thread loads: the stage that was multiplied before the last, as soon as all
/// four warps have released it.
template <class Element>
__global__ void __launch_bounds__(threads, 2)
    wgmma_product(const __grid_constant__ TiledProduct<Element, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const ClusterPlace<d> place;
  TileRing<d> ring;
  ring.tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  ring.barriers = ring.tiles + TileRing<d>::bytes;
  if (threadIdx.x == 0) ring.init(4);
  __syncthreads();

  const TileIndex corner = TileScheduler<d>(p).corner(p, place);
  const auto load = [&](int step) {
    load_stage<d, Major::k, Major::outer>(ring, step % d.stages, place, p.map_a, p.map_b, corner.m,
                                          corner.n, step * stage_depth<Element>);
  };
  if (threadIdx.x == 0) {
    for (int step = 0; step < min(d.stages, p.depth); ++step) load(step);
  }
  __syncwarp();
  Sums<d> sums;
  start(sums);
  for (int step = 0; step < p.depth; ++step) {
    wait(ring.full(step % d.stages), step / d.stages % 2);
    multiply_stage<Element, d, Major::k, Major::outer>(ring, step % d.stages, 0, sums, step > 0);
    wgmma_wait_group<1>();
    if (step == 0) continue;
    const int before = step - 1, next = before + d.stages;
    release(ring, before % d.stages, place);
    if (threadIdx.x == 0 && next < p.depth) {
      wait(ring.empty(before % d.stages), before / d.stages % 2);
      load(next);
    }
    __syncwarp();
  }
  wgmma_wait_group<0>();
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int i = 0; i < d.m_blocks; ++i) {
    fence_accumulators(sums.of[i]);
    store_from_registers(p, sums.of[i], corner.m + i * 64 + warp * 16, corner.n);
  }
#endif
}

template <class Element>
void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const TmaOperands operands =
      TmaOperands::prepared(arguments, Shape::majors, workspace.data, stream);
  const auto product = tiled_product<Types<Element>>(arguments, operands, d, false);
  launch_cluster(wgmma_product<Element>,
                 {product.tiles_m * product.tiles_n, threads, shared_bytes, 1, stream}, product);
}

template <class Element>
Rung rung_of(Class of) {
  Rung rung = hopper_rung(of, "06_wgmma", Shape::majors);
  rung.idea =
      "wgmma: four warps multiply 128 x 128 tiles that TMA puts into shared memory, swizzled, and "
      "that no register sees; barriers that count bytes say when a tile is there.";
  rung.gain =
      "Hopper's tensor cores do 2048 multiplications a clock and SM by wgmma and at most 1361 by "
      "mma.sync (measured by the probe instructions): half as much again. Neither loads nor "
      "ldmatrix take issue slots or registers any more.";
  rung.kernel = {reinterpret_cast<const void*>(&wgmma_product<Element>),
                 threads,
                 shared_bytes,
                 d.m(),
                 d.n,
                 stage_depth<Element>};
  rung.launch = &launch<Element>;
  return rung;
}

}  // namespace

Rung wgmma(Class of) {
  return of == Class::fp16 ? rung_of<__half>(of) : rung_of<__nv_bfloat16>(of);
}

}  // namespace fathom::gemm::half
