#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "models/gpu_table.h"
#include "probes/links/bounds.h"
#include "results/findings.h"

namespace fathom::links {
namespace {

constexpr const char* bandwidth = "bandwidth";

/// What every entry knows of the machine, as "run visible_gpus".
Figures machine(std::span<const Entry> entries) {
  return {{{"run", {}, Pick::first, extra_of("visible_gpus")}}, entries};
}

std::string why_none(const Figures& around, bool needs_access, bool needs_nccl = false) {
  const double gpus = around["run visible_gpus"];
  if (gpus == 1) return "one GPU: this process sees no other";
  if (gpus - around["run busy_gpus"] == 1)
    return around.tell(
        "the other {run busy_gpus} GPUs that this process sees are in use by another Fathom");
  if (needs_access && around["run pairs_with_access"] == 0)
    return around.tell(
        "the driver gives none of these {run visible_gpus} GPUs access to another's memory "
        "(cudaDeviceCanAccessPeer): they share no NVLink, and no PCIe path on which it is allowed");
  if (needs_nccl && around["run nccl_version"] == 0)
    return "NCCL (libnccl.so.2) is not installed, or cannot be loaded: install libnccl2, or name "
           "the file in FATHOM_NCCL_LIBRARY";
  return left_out;
}

FactRow host_row(const char* id, const char* quantity, const char* memory, const char* engine,
                 const char* direction, const std::string& how) {
  return {{id, "host memory", quantity, "B/s"},
          {{"link", "host"}, {"memory", memory}, {"engine", engine}, {"direction", direction}},
          how + "; the best size, {size}",
          left_out,
          Pick::best};
}

FactRow host_latency_row(const char* id, const std::string& direction) {
  return {{id, "host memory", "time of a small copy " + direction, "s", Better::lower},
          {{"link", "host, latency"}, {"direction", direction}},
          "4 bytes of pinned memory, one copy behind the other in a graph: without the host's call",
          left_out};
}

FactRow pairs_row(std::span<const Entry> entries, Fact name, const char* link,
                  const std::string& engine, const std::string& direction) {
  // The sender's copy engine has a way through the host; the others need access.
  FactRow row{std::move(name),
              {{"link", link}, {"engine", engine}, {"direction", direction}},
              engine +
                  (direction == "both" ? ", the bytes of both directions" : ", one direction") +
                  ", median of {measured} pairs ({low} to {high})",
              why_none(machine(entries), engine != "copy engine"),
              Pick::median};
  if (find_measured(entries, row.where + AxisFilter{{"path", "through the host"}}) != nullptr)
    row.method += ", some of them through the host for want of peer access";
  return row;
}

std::vector<FactRow> fact_rows(std::span<const Entry> entries) {
  const char* together = "bandwidth, both directions together";
  std::vector<FactRow> rows{
      host_row("host.bandwidth", bandwidth, "pinned", "copy engine", "to GPU",
               "cudaMemcpyAsync from pinned memory"),
      host_row("host.d2h_bandwidth", "bandwidth to the host", "pinned", "copy engine", "to host",
               "cudaMemcpyAsync to pinned memory"),
      host_row("host.bidirectional_bandwidth", together, "pinned", "copy engine", "both",
               "cudaMemcpyAsync in two streams, the bytes of both directions"),
      host_row("host.pageable_bandwidth", "bandwidth from pageable memory", "pageable",
               "copy engine", "to GPU", "cudaMemcpyAsync from pageable memory"),
      host_row("host.pageable_d2h_bandwidth", "bandwidth to pageable memory", "pageable",
               "copy engine", "to host", "cudaMemcpyAsync to pageable memory"),
      host_row("host.sm_load_bandwidth", "bandwidth of loads", "pinned", "SM", "to GPU",
               "a kernel that loads mapped pinned memory and stores to its own"),
      host_row("host.sm_store_bandwidth", "bandwidth of stores", "pinned", "SM", "to host",
               "a kernel that stores to mapped pinned memory what it loads from its own"),
      host_row("host.sm_bidirectional_bandwidth", "bandwidth of loads and stores together",
               "pinned", "SM", "both", "two kernels in two streams, the bytes of both directions"),
      host_latency_row("host.copy_latency", "to GPU"),
      host_latency_row("host.d2h_copy_latency", "to host")};
  const auto peer = [&](const char* id, const char* quantity, const char* engine,
                        const char* direction) {
    rows.push_back(
        pairs_row(entries, {id, "another GPU", quantity, "B/s"}, "peer", engine, direction));
  };
  peer("peer.bandwidth", bandwidth, "copy engine", "one way");
  peer("peer.bidirectional_bandwidth", together, "copy engine", "both");
  peer("peer.read_bandwidth", "bandwidth, the receiver's copy engine", "copy engine reads",
       "one way");
  peer("peer.read_bidirectional_bandwidth",
       "bandwidth, the receivers' copy engines, both directions together", "copy engine reads",
       "both");
  peer("peer.sm_load_bandwidth", "bandwidth of loads", "SM loads", "one way");
  peer("peer.sm_store_bandwidth", "bandwidth of stores", "SM stores", "one way");
  peer("peer.sm_load_bidirectional_bandwidth", "bandwidth of loads, both directions together",
       "SM loads", "both");
  peer("peer.sm_store_bidirectional_bandwidth", "bandwidth of stores, both directions together",
       "SM stores", "both");
  for (const auto& [id, quantity, engine] :
       {std::tuple{"peer.copy_latency", "time of a small copy", "copy engine"},
        {"peer.load_latency", "time of a load", "SM loads"}})
    rows.push_back(pairs_row(entries, {id, "another GPU", quantity, "s", Better::lower},
                             "peer, latency", engine, "one way"));
  const Figures around = machine(entries);
  const double version = around["run nccl_version"];
  const int nccl = std::isnan(version) ? 0 : static_cast<int>(version);
  for (const auto& [collective, name, collective_id] : collectives)
    rows.push_back({{fmt::format("nccl.{}_bus_bandwidth", collective_id), "all GPUs",
                     fmt::format("bus bandwidth of {}", name), "B/s"},
                    {{"link", "NCCL"}, {"collective", name}},
                    fmt::format("NCCL {}.{}.{}, timed and counted as nccl-tests does; the best "
                                "size, {{size}}",
                                nccl / 10000, nccl / 100 % 100, nccl % 100),
                    why_none(around, false, true),
                    Pick::best});
  return rows;
}

View curve(const char* title, Where where, std::vector<std::string> series,
           const char* y_label = "Bandwidth", bool overview = false, const char* note = "") {
  return plot(title, std::move(where), "size", y_label, std::move(series),
              {.x_label = "Size (B)", .x_log2 = true, .bound = true, .overview = overview}, note);
}

std::vector<View> views(std::span<const Entry> entries) {
  std::vector<View> result{
      curve("Host link by size, copy engine", {{"link", {"host"}}, {"engine", {"copy engine"}}},
            {"memory", "direction"}, "Bandwidth", true),
      curve("Host link by size, loads and stores of kernels",
            {{"link", {"host"}}, {"engine", {"SM"}}}, {"direction"})};
  const auto measured = [&](const char* link) {
    return !select(entries, {{"link", link}}).empty();
  };
  if (measured("peer")) {
    for (const auto& [what, link, engine] :
         {std::tuple{"copy engine", "peer", "copy engine"},
          {"copy engine of the receiver", "peer", "copy engine reads"},
          {"loads of the receiving SMs", "peer", "SM loads"},
          {"stores of the sending SMs", "peer", "SM stores"},
          {"time of a small copy", "peer, latency", "copy engine"},
          {"time of a load by the receiving SMs", "peer, latency", "SM loads"}}) {
      if (select(entries, {{"link", link}, {"engine", engine}}).empty()) continue;
      const bool bandwidths = std::string_view(link) == "peer";
      result.push_back(
          {.kind = View::Kind::heat_map,
           .title = std::string("GPU to GPU, ") + what,
           .note = "Rows send, columns receive.",
           .where = {{"link", {link}}, {"engine", {engine}}, {"direction", {"one way"}}},
           .overview = result.size() == 2,  // the first
           .x = "to GPU",
           .x_label = "To GPU",
           .y_label = bandwidths ? "Bandwidth" : "Time",
           .y_axis = "from GPU"});
    }
    result.push_back(table("Pairs of GPUs", {{"link", {"peer"}}},
                           {"engine", "direction", "from GPU", "to GPU", "path", "metric",
                            "interval", "bound", "of_bound", "verdict"}));
  }
  if (measured("NCCL"))
    result.push_back(curve("Bus bandwidth of NCCL's collectives by size", {{"link", {"NCCL"}}},
                           {"collective"}, "Bus bandwidth", true));
  if (measured("NCCL, queued"))
    result.push_back(curve(
        "Bus bandwidth of NCCL's collectives that were queued before", {{"link", {"NCCL, queued"}}},
        {"collective"}, "Bus bandwidth", false,
        "Without what the host takes to call them: as in a CUDA graph, or behind other work."));
  result.push_back(table("Time of a copy of 4 bytes", {{"link", {"host, latency"}}},
                         {"direction", "metric", "interval", "verdict"}));
  return result;
}

// What no case can pass.

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

Findings conclude(std::span<const Entry> entries) {
  return evaluate(
      {.facts = fact_rows(entries),
       .answer =
           "The link to the host carries {host.bandwidth} to the GPU and {host.d2h_bandwidth} back "
           "from and to pinned memory, {host.bidirectional_bandwidth} both ways together, "
           "{host.pageable_bandwidth} from pageable memory[; a pair of GPUs {peer.bandwidth} one "
           "way][ and {peer.bidirectional_bandwidth} both ways][; between GPUs nothing was "
           "measured ({peer.bandwidth reason})].",
       .views = views(entries)},
      entries);
}

}  // namespace fathom::links
