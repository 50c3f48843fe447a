// The tile follows the product, and where tiles are too few for all SMs, several blocks share a
// tile's k.

#include <algorithm>
#include <string>

#include "gemm/bench/variant.h"
#include "gemm/best/fp32/tilings.h"
#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/ladder/lesson.h"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {
namespace {

/// Multiplications that one SM does a clock on every GPU since compute capability 8.6 and on 9.0.
constexpr double per_clock = 128;
/// Bytes of its operands that an SM gets a clock: its share of the memory bus, 4.6 TB/s over 132
/// SMs at 1.8 GHz. The L2 has more, but not for copies of an element at a time, which operands
/// along k take. Only narrow tiles ask for as much: one of 256 x 16 for 27 bytes a clock, one of
/// 128 x 128 for 7.
constexpr double operand_bytes_per_clock = 19;
/// Clocks from a block's start to its first multiplication and from its last to its end: a few
/// accesses to device memory, one behind the other.
constexpr double clocks_around_a_tile = 4000;
/// Clocks of a second launch, and bytes that an SM's share of it moves a clock.
constexpr double clocks_of_adding = 6000, bytes_per_clock = 20;
constexpr int most_parts_of_all = 64;

double estimated_clocks(const TilingChoice& t, std::int64_t m, std::int64_t n, std::int64_t k,
                        int sms, int parts) {
  const std::int64_t blocks = ceil_div(m, t.m) * ceil_div(n, t.n) * parts;
  const std::int64_t on_busiest_sm = ceil_div(blocks, sms);
  const auto steps = static_cast<double>(ceil_div(ceil_div(k, t.k), parts));
  const double multiplying = static_cast<double>(t.m) * t.n * t.k / (per_clock * t.efficiency);
  const double copying = 4.0 * (t.m + t.n) * t.k / operand_bytes_per_clock;
  const double of_a_block = steps * std::max(multiplying, copying);
  // Blocks beside each other hide each other's start and end.
  const double around =
      clocks_around_a_tile * static_cast<double>(ceil_div(on_busiest_sm, t.blocks_per_sm));
  double clocks = static_cast<double>(on_busiest_sm) * of_a_block + around;
  if (parts > 1) {
    const double bytes = 4.0 * static_cast<double>(m) * static_cast<double>(n) * (2 * parts + 1);
    clocks += clocks_of_adding + bytes / (bytes_per_clock * sms);
  }
  return clocks;
}

/// Rounds of blocks on an SM beyond which there is nothing left that more parts could even out.
constexpr std::int64_t most_rounds = 8;

Variant variant_of(const TilingChoice& tiling, int parts, const Problem& problem) {
  Variant variant;
  variant.name =
      std::string(tiling.name) + " in " + std::to_string(parts) + (parts == 1 ? " part" : " parts");
  variant.kernel = tiling.kernel;
  variant.kernel.parts = parts;
  variant.workspace_bytes = bytes_of_parts(problem, parts);
  variant.launch = [&tiling, parts](const Arguments& arguments, const Workspace& workspace,
                                    cudaStream_t stream) {
    tiling.launch(arguments, parts, reinterpret_cast<float*>(workspace.data), stream);
  };
  return variant;
}

/// The numbers of parts worth trying: of those that give the busiest SM the same number of blocks,
/// the largest, whose blocks are shortest.
std::vector<int> useful_parts(std::int64_t tiles, int most, int sms) {
  std::vector<int> parts{1};
  for (std::int64_t rounds = ceil_div(tiles, sms); rounds <= most_rounds; ++rounds) {
    const int largest = static_cast<int>(std::min<std::int64_t>(rounds * sms / tiles, most));
    if (largest > parts.back()) parts.push_back(largest);
  }
  return parts;
}

constexpr int threads = 256;

/// The second half of a product whose k was cut into parts: their sums, added up in order, so that
/// the result is the same every time.
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

bool fits(const TilingChoice& tiling, std::int64_t m, std::int64_t n, std::int64_t k) {
  return m >= tiling.m && n >= tiling.n && k >= 1;
}

int most_parts(const TilingChoice& tiling, std::int64_t k) {
  return static_cast<int>(std::min<std::int64_t>(most_parts_of_all, ceil_div(k, tiling.k)));
}

Plan make_plan(std::int64_t m, std::int64_t n, std::int64_t k, int sms) {
  Plan best;
  double least = 0;
  for (const TilingChoice& tiling : tilings()) {
    if (!fits(tiling, m, n, k)) continue;
    for (int parts = 1; parts <= most_parts(tiling, k); ++parts) {
      const double clocks = estimated_clocks(tiling, m, n, k, sms, parts);
      if (best.tiling != nullptr && clocks >= least) continue;
      best = {&tiling, parts};
      least = clocks;
    }
  }
  return best;
}

Plan make_plan(const Problem& problem, int sms) {
  return make_plan(problem.n, problem.m, problem.alpha == 0 ? 0 : problem.k, sms);
}

std::size_t bytes_of_parts(const Problem& problem, int parts) {
  if (parts <= 1) return 0;
  return static_cast<std::size_t>(parts) * static_cast<std::size_t>(problem.m) *
         static_cast<std::size_t>(problem.n) * sizeof(float);
}

std::vector<Variant> tiling_variants(const Problem& problem, int sms) {
  const Plan plan = make_plan(problem, sms);
  if (plan.tiling == nullptr) return {};
  std::vector<Variant> variants{variant_of(*plan.tiling, plan.parts, problem)};
  // As the tilings see it: row-major.
  const std::int64_t m = problem.n, n = problem.m;
  for (const TilingChoice& tiling : tilings()) {
    if (!fits(tiling, m, n, problem.k)) continue;
    const std::int64_t tiles = ceil_div(m, tiling.m) * ceil_div(n, tiling.n);
    for (const int parts : useful_parts(tiles, most_parts(tiling, problem.k), sms)) {
      if (&tiling == plan.tiling && parts == plan.parts) continue;
      variants.push_back(variant_of(tiling, parts, problem));
    }
  }
  return variants;
}

void launch_add_parts(const Arguments& arguments, int parts, const float* sums,
                      cudaStream_t stream) {
  const auto p = row_major<float>(arguments);
  const std::int64_t blocks = ceil_div(static_cast<std::int64_t>(p.m) * p.n, threads);
  add_parts<<<static_cast<unsigned>(std::min<std::int64_t>(blocks, 1 << 16)), threads, 0, stream>>>(
      p, parts, sums);
  FATHOM_CUDA(cudaGetLastError());
}

RungPlan planned(const Problem& p, int sms) {
  const Plan plan = make_plan(p, sms);
  RungKernel kernel;
  if (plan.tiling != nullptr) kernel = plan.tiling->kernel;
  kernel.parts = plan.parts;
  const auto launch = [](const Arguments& arguments, const Workspace& workspace,
                         cudaStream_t stream) {
    const Plan plan = make_plan(arguments.problem, workspace.sms);
    if (plan.tiling == nullptr) return launch_fallback(arguments, stream);
    plan.tiling->launch(arguments, plan.parts, reinterpret_cast<float*>(workspace.data), stream);
  };
  return {launch, bytes_of_parts(p, plan.parts), kernel, plan.tiling != nullptr};
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
  rung.kernel = tilings().front().kernel;
  rung.variants = [](const Problem& p, int sms, std::vector<Variant>& found) {
    found = tiling_variants(p, sms);
  };
  follow_plan<planned>(rung);
  return rung;
}

}  // namespace fathom::gemm::fp32
