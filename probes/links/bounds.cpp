#include "probes/links/bounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/gpu_table.h"

namespace fathom::links {
namespace {

bool joined_by_nvlink(const Topology& topology, int a, int b) {
  return topology.native_atomics.contains({a, b}) && topology.native_atomics.contains({b, a});
}

/// Whether a GPU is known to have no NVLink at all.
bool lacks_nvlink(const GpuLinks& gpu) {
  const models::GpuSpec* spec = models::find_gpu(gpu.name);
  return !gpu.named && spec != nullptr && !spec->nvlink_bandwidth.known();
}

/// By NVML, else, of one that is joined to another, by its data sheet.
std::optional<Bound> nvlinks_of(const GpuLinks& gpu, bool joined) {
  if (gpu.named || !joined) return gpu.named;
  const models::GpuSpec* spec = models::find_gpu(gpu.name);
  if (spec == nullptr || !spec->nvlink_bandwidth.known()) return std::nullopt;
  const auto& both_ways = spec->nvlink_bandwidth;
  return Bound{both_ways.value / 2,
               fmt::format("NVLink: {:.4g} GB/s in both directions / 2 ({}); NVML names no links",
                           both_ways.value / 1e9, both_ways.source)};
}

/// Nothing unless both are there: the other one may be the lower.
std::optional<Bound> least(const std::optional<Bound>& a, const std::optional<Bound>& b) {
  if (!a || !b) return std::nullopt;
  return a->value <= b->value ? a : b;
}

}  // namespace

std::optional<Bound> peer_bound(const Topology& topology, int from, int to) {
  const GpuLinks& a = topology.gpus.at(from);
  const GpuLinks& b = topology.gpus.at(to);
  if (!topology.access.contains({from, to}) || lacks_nvlink(a) || lacks_nvlink(b))
    return least(a.pcie, b.pcie);
  const bool joined = joined_by_nvlink(topology, from, to);
  return least(nvlinks_of(a, joined), nvlinks_of(b, joined));
}

std::optional<Bound> bus_bound(const Topology& topology, std::span<const int> gpus) {
  std::optional<Bound> all;
  for (const int own : gpus) {
    const GpuLinks& gpu = topology.gpus.at(own);
    const bool joined = std::ranges::any_of(
        gpus, [&](int other) { return joined_by_nvlink(topology, own, other); });
    const std::optional<Bound> bound = lacks_nvlink(gpu) ? gpu.pcie : nvlinks_of(gpu, joined);
    if (!bound) return std::nullopt;
    if (!all || bound->value < all->value) all = bound;
  }
  return all;
}

}  // namespace fathom::links
