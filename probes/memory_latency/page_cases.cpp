#include "harness/cuda_check.h"
#include "probes/memory_latency/cases.h"

// The TLBs: one line in each large page, over footprints up to nearly all of the memory. The lines
// themselves fit the L2, so what grows with the footprint is address translation.

namespace fathom::memory_latency {
namespace {

constexpr std::uint64_t page = large_page_bytes;
constexpr std::uint32_t line = 128;
constexpr int loads = 2048;

/// The rest is for the driver, the L2's flush, and whoever else uses the GPU a little.
std::size_t footprint_limit(const DeviceFacts& device) {
  const std::size_t rest = std::min<std::size_t>(std::size_t{6} << 30, device.memory_bytes / 4);
  return (device.memory_bytes - rest) / page * page;
}

Case page_case(const DeviceFacts& device, std::size_t footprint) {
  Case c = make_case({"pages", "TLB", "ld.global.cg", Timed::mean, {working_set_axis(footprint)}});
  Chase wanted;
  wanted.chain = {.count = static_cast<std::uint32_t>(footprint / page),
                  .stride = page,
                  // Within the page that the buffer's guard band leaves of the stride.
                  .jitter_slots = (large_page_bytes - 2 * 4096) / line,
                  .jitter_bytes = line};
  wanted.warm = wanted.chain;
  wanted.warm_passes = 2;
  wanted.loads = loads;
  const auto readings = std::make_shared<Readings>();
  const std::size_t region = footprint_limit(device);  // the same for all: allocated once
  c.extras["pages"] = wanted.chain.count;
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const Buffer memory = context.buffers().output("pages", region);
    Chase chase = wanted;
    chase.chain.base = chase.warm.base = reinterpret_cast<std::uint64_t>(memory.data);
    launch_write_chain(chase.chain, stream);
    return chase_workload(context, chase, false, readings, [](const Chase& c, cudaStream_t on) {
      launch_global_chase(GlobalLoad::l2_only, c, most_l1, on);
    });
  };
  return c;
}

}  // namespace

std::vector<Case> page_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  const std::size_t limit = footprint_limit(device);
  std::vector<std::size_t> sizes = geometric(4 * page, limit, 4, page);
  sizes.push_back(limit);
  sort_unique(sizes);
  for (const std::size_t size : sizes) result.push_back(page_case(device, size));
  return result;
}

}  // namespace fathom::memory_latency
