#include "models/occupancy.h"

#include <algorithm>
#include <array>
#include <climits>
#include <tuple>
#include <utility>

#include "models/formatted.h"
#include "models/warp_access.h"

namespace fathom::models {
namespace {

// CUDA Programming Guide 13, section 5.1 "Compute Capabilities", table of the sizes of the unified
// data cache and of the shared memory in it.
constexpr std::array carveouts_turing{32, 64};
constexpr std::array carveouts_100{0, 8, 16, 32, 64, 100};
constexpr std::array carveouts_164{0, 8, 16, 32, 64, 100, 132, 164};
constexpr std::array carveouts_228{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

constexpr SmLimits limits(int major, int minor, int warps, int blocks,
                          std::span<const int> carveouts, int unified_kib, int fp32) {
  const int shared = carveouts.back() * 1024;
  const int reserved = major >= 8 ? 1024 : 0;
  return {.major = major,
          .minor = minor,
          .warps = warps,
          .blocks = blocks,
          .shared_bytes = shared,
          .shared_bytes_per_block = shared - reserved,
          .shared_reserved_per_block = reserved,
          .shared_granularity = major >= 8 ? 128 : 256,
          .carveouts_kib = carveouts,
          .unified_bytes = unified_kib * 1024,
          .fp32_per_clock = fp32,
          .l1_bytes_per_clock = major >= 8 ? 128 : 64};
}

// 8.8 and 11.0: blocks and carve-outs as cuda_occupancy.h has them; warps as their relatives with
// as many blocks.
constexpr std::array table{
    limits(7, 5, 32, 16, carveouts_turing, 96, 64), limits(8, 0, 64, 32, carveouts_164, 192, 64),
    limits(8, 6, 48, 16, carveouts_100, 128, 128),  limits(8, 7, 48, 16, carveouts_164, 192, 128),
    limits(8, 8, 48, 16, carveouts_100, 128, 128),  limits(8, 9, 48, 24, carveouts_100, 128, 128),
    limits(9, 0, 64, 32, carveouts_228, 256, 128),  limits(10, 0, 64, 32, carveouts_228, 256, 128),
    limits(10, 3, 64, 32, carveouts_228, 256, 128), limits(11, 0, 48, 24, carveouts_228, 256, 128),
    limits(12, 0, 48, 24, carveouts_100, 128, 128), limits(12, 1, 48, 24, carveouts_100, 128, 128)};

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

int warps_of(const KernelResources& kernel) {
  return (kernel.threads_per_block - 1) / warp_size + 1;
}

void validate(const KernelResources& k) {
  const struct {
    const char* what;
    int value, lowest, highest;
  } amounts[] = {{"threads", k.threads_per_block, 1, 1 << 20},
                 {"registers a thread", k.registers_per_thread, 0, 1 << 16},
                 {"bytes of static shared memory", k.static_shared_bytes, 0, 48 * 1024},
                 {"bytes of dynamic shared memory", k.dynamic_shared_bytes, 0, 1 << 30},
                 {"% of carve-out (-1: the driver's choice)", k.carveout_percent, -1, 100}};
  for (const auto& [what, value, lowest, highest] : amounts)
    if (value < lowest || value > highest)
      refuse("a block has %d to %d %s, not %d", lowest, highest, what, value);
}

int smallest_carveout(const SmLimits& sm, int bytes) {
  for (const int kib : sm.carveouts_kib)
    if (kib * 1024 >= bytes) return kib * 1024;
  return sm.shared_bytes;
}

int limit_by_registers(const SmLimits& sm, const KernelResources& kernel, int& per_block) {
  if (kernel.registers_per_thread > sm.registers_per_thread ||
      kernel.threads_per_block > sm.threads_per_block)
    return 0;
  const int warps = warps_of(kernel);
  const int per_warp = round_up(kernel.registers_per_thread * warp_size, sm.register_granularity);
  per_block = per_warp * warps;
  if (per_warp == 0) return INT_MAX;
  // Each partition gives registers to whole warps only. That also covers the launch check of a
  // block spread evenly over the partitions, since a block may have all of an SM's registers.
  const int warps_per_partition = sm.registers / sm.partitions / per_warp;
  return warps_per_partition * sm.partitions / warps;
}

int limit_by_shared(const SmLimits& sm, const KernelResources& kernel, int& per_block) {
  const int wanted = kernel.static_shared_bytes + kernel.dynamic_shared_bytes;
  per_block = round_up(wanted + sm.shared_reserved_per_block, sm.shared_granularity);
  if (per_block > sm.shared_bytes_per_block + sm.shared_reserved_per_block) return 0;
  if (per_block == 0) return INT_MAX;
  if (kernel.carveout_percent < 0) return sm.shared_bytes / per_block;
  // A preference is rounded up to a size that exists, and gives way to a block that needs more.
  const int preferred = kernel.carveout_percent * sm.shared_bytes / 100;
  return smallest_carveout(sm, std::max(preferred, per_block)) / per_block;
}

std::string describe(const SmLimits& sm, const KernelResources& kernel, const Occupancy& o) {
  if (o.blocks == 0) {
    return formatted(
        "a block of %d threads, %d registers a thread and %d bytes of shared memory does not fit "
        "on an SM of compute capability %d.%d: too many %s",
        kernel.threads_per_block, kernel.registers_per_thread,
        kernel.static_shared_bytes + kernel.dynamic_shared_bytes, sm.major, sm.minor,
        o.limiter == "shared memory" ? "shared bytes" : o.limiter.c_str());
  }
  return formatted("%.1f %% (%d of %d warps, %d blocks per SM), limited by %s", 100 * o.fraction,
                   o.warps, sm.warps, o.blocks, o.limiter.c_str());
}

}  // namespace

std::span<const SmLimits> all_sm_limits() { return table; }

const SmLimits& sm_limits(int major, int minor) {
  for (const SmLimits& sm : table)
    if (sm.major == major && sm.minor == minor) return sm;
  refuse(
      "no SM limits are known for compute capability %d.%d; known are 7.5, 8.0, 8.6, 8.7, 8.8, "
      "8.9, 9.0, 10.0, 10.3, 11.0, 12.0 and 12.1",
      major, minor);
}

Occupancy occupancy(const SmLimits& sm, const KernelResources& kernel) {
  validate(kernel);
  const int warps = warps_of(kernel);
  Occupancy o;
  o.blocks_by_warps = kernel.threads_per_block > sm.threads_per_block ? 0 : sm.warps / warps;
  o.blocks_by_registers = limit_by_registers(sm, kernel, o.registers_per_block);
  o.blocks_by_shared = limit_by_shared(sm, kernel, o.shared_per_block);
  o.blocks_by_blocks = sm.blocks;
  const std::pair<int, const char*> limits[] = {{o.blocks_by_warps, "warps"},
                                                {o.blocks_by_registers, "registers"},
                                                {o.blocks_by_shared, "shared memory"},
                                                {o.blocks_by_blocks, "blocks"}};
  std::tie(o.blocks, o.limiter) =
      *std::ranges::min_element(limits, {}, [](const auto& limit) { return limit.first; });
  o.warps = o.blocks * warps;
  o.fraction = static_cast<double>(o.warps) / sm.warps;
  o.sentence = describe(sm, kernel, o);
  return o;
}

std::vector<OccupancyStep> next_occupancy_steps(const SmLimits& sm, const KernelResources& kernel) {
  const int warps_now = occupancy(sm, kernel).warps;
  // Static and dynamic shared memory count together, in whole units of allocation.
  KernelResources k = kernel;
  k.dynamic_shared_bytes += k.static_shared_bytes;
  k.static_shared_bytes = 0;
  const int reserved = sm.shared_reserved_per_block, unit = sm.shared_granularity;
  const int most = std::min(k.dynamic_shared_bytes - 1, sm.shared_bytes_per_block) + reserved;
  const struct {
    const char* name;
    int KernelResources::*amount;
    int first, unit, lowest;
  } resources[] = {
      {"registers per thread", &KernelResources::registers_per_thread,
       std::min(k.registers_per_thread - 1, sm.registers_per_thread), 1, 1},
      {"shared bytes per block", &KernelResources::dynamic_shared_bytes,
       most / unit * unit - reserved, unit, 0},
      {"threads per block", &KernelResources::threads_per_block,
       std::min((k.threads_per_block - 1) / warp_size * warp_size, sm.threads_per_block), warp_size,
       warp_size}};
  std::vector<OccupancyStep> steps;
  for (const auto& [name, amount, first, unit, lowest] : resources) {
    KernelResources changed = k;
    for (changed.*amount = first; changed.*amount >= lowest; changed.*amount -= unit) {
      const Occupancy then = occupancy(sm, changed);
      if (then.warps <= warps_now) continue;
      const int now = k.*amount, needed = changed.*amount;
      steps.push_back({name, now, needed, then,
                       formatted("%d %s fewer (%d -> %d) gives %.1f %%", now - needed, name, now,
                                 needed, 100 * then.fraction)});
      break;
    }
  }
  return steps;
}

}  // namespace fathom::models
