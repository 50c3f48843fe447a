// The tile follows the product, and where tiles are too few for all SMs, several blocks share a
// tile's k.

#include <algorithm>

#include "gemm/best/contenders.h"
#include "gemm/best/fp32/tilings.h"
#include "gemm/blocks/epilogue.cuh"
#include "gemm/ladder/lesson.h"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {

// The second half of a product whose k was cut into parts: their sums, added up in order, so that
// the result is the same every time.

namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads)
    add_parts(Product<float> p, int parts, const float* sums) {
  const std::int64_t elements = static_cast<std::int64_t>(p.m) * p.n;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < elements;
       i += stride) {
    float sum = 0;
    for (int part = 0; part < parts; ++part) sum += sums[part * elements + i];
    const auto row =
        static_cast<int>(static_cast<unsigned long long>(i) / static_cast<unsigned>(p.n));
    store_element(p, row, static_cast<int>(i - static_cast<std::int64_t>(row) * p.n), sum);
  }
}

}  // namespace

void launch_add_parts(const Arguments& arguments, int parts, const float* sums,
                      cudaStream_t stream) {
  const auto p = row_major<float>(arguments);
  const std::int64_t blocks = ceil_div(static_cast<std::int64_t>(p.m) * p.n, threads);
  add_parts<<<static_cast<unsigned>(std::min<std::int64_t>(blocks, 1 << 16)), threads, 0, stream>>>(
      p, parts, sums);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_planned(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const Plan plan = make_plan(arguments.problem, workspace.sms);
  if (plan.tiling == nullptr) return launch_fallback(arguments, stream);
  plan.tiling->launch(arguments, plan.parts, reinterpret_cast<float*>(workspace.data), stream);
}

Rung planned_tiles() {
  Rung rung;
  rung.name = "22_planned_tiles";
  rung.of = Class::fp32;
  rung.idea =
      "Takes that of five tilings, and of up to 64 parts of k, whose busiest SM has the least to "
      "do; a second launch adds up the parts in order.";
  rung.gain =
      "Skinny products keep every SM busy, and a size just past a multiple of one tile takes "
      "another.";
  rung.capability = 80;
  rung.contender = true;
  rung.kernel = tiling_128x256x16().kernel;
  rung.launch = &launch_planned;
  rung.takes_own_path = [](const Problem& p) { return make_plan(p, 1).tiling != nullptr; };
  rung.variants = &tiling_variants;
  rung.workspace_bytes = [](const Problem& p, int sms) {
    return bytes_of_parts(p, make_plan(p, sms).parts);
  };
  return rung;
}

}  // namespace fathom::gemm::fp32
