#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/links/collectives.h"
#include "results/format.h"
#include "results/query.h"
#include "results/rows.h"
#include "results/statistics.h"

namespace fathom::links {
namespace {

constexpr const char* left_out = "its cases were left out of this run, or failed";
constexpr const char* bandwidth = "bandwidth";
constexpr const char* bandwidth_label = "Bandwidth";

/// What every entry knows of the machine.
struct Surroundings {
  bool known = false;
  int gpus = 0, busy = 0, pairs_with_access = 0, nccl_version = 0;
};

Surroundings surroundings_of(std::span<const Entry> entries) {
  Surroundings around;
  for (const Entry& entry : entries) {
    const auto number = [&](const char* name) {
      const auto found = entry.extras.find(name);
      return found == entry.extras.end() ? 0 : static_cast<int>(found->second);
    };
    if (!entry.extras.contains("visible_gpus")) continue;
    around = {true, number("visible_gpus"), number("busy_gpus"), number("pairs_with_access"),
              number("nccl_version")};
    break;
  }
  return around;
}

/// Why there is no second GPU; empty where there is one.
std::string why_alone(const Surroundings& around) {
  if (!around.known) return left_out;
  if (around.gpus == 1) return "one GPU: this process sees no other";
  if (around.gpus - around.busy == 1) {
    return fmt::format("the other {} GPUs that this process sees are in use by another Fathom",
                       around.busy);
  }
  return "";
}

std::string why_no_peer(const Surroundings& around, bool by_sm) {
  if (const std::string alone = why_alone(around); !alone.empty()) return alone;
  if (by_sm && around.pairs_with_access == 0) {
    return fmt::format(
        "the driver gives none of these {} GPUs access to another's memory "
        "(cudaDeviceCanAccessPeer): they share no NVLink, and no PCIe path on which it is allowed",
        around.gpus);
  }
  return left_out;
}

std::string why_no_nccl(const Surroundings& around) {
  if (const std::string alone = why_alone(around); !alone.empty()) return alone;
  if (around.nccl_version == 0)
    return "NCCL (libnccl.so.2) is not installed, or cannot be loaded: install libnccl2, or name "
           "the file in FATHOM_NCCL_LIBRARY";
  return left_out;
}

void take(Fact& fact, const Entry& entry) {
  fact.value = entry.metric.value;
  fact.interval = entry.interval;
  fact.repeats = static_cast<int>(entry.samples.size());
  fact.evidence = {entry.name};
  fact.bound = entry.bound;
}

std::string size_of(const Entry& entry) {
  const AxisValue* size = find_axis(entry, "size");
  return size == nullptr ? "?" : format_axis_value("size", *size);
}

/// The best of a curve over the size.
Fact best_fact(std::span<const Entry> entries, const AxisFilter& filter, Fact fact,
               const std::string& how, const std::string& absent) {
  if (const Entry* entry = best(select(entries, filter))) {
    take(fact, *entry);
    fact.method = fmt::format("{}; the best size, {}", how, size_of(*entry));
  } else {
    fact.reason = absent;
  }
  return fact;
}

struct HostFact {
  const char* id;
  const char* quantity;
  const char *memory, *engine, *direction;
  const char* how;
};
constexpr HostFact host_facts[] = {
    {"host.bandwidth", bandwidth, "pinned", "copy engine", "to GPU",
     "cudaMemcpyAsync from pinned memory"},
    {"host.d2h_bandwidth", "bandwidth to the host", "pinned", "copy engine", "to host",
     "cudaMemcpyAsync to pinned memory"},
    {"host.bidirectional_bandwidth", "bandwidth, both directions together", "pinned", "copy engine",
     "both", "cudaMemcpyAsync in two streams, the bytes of both directions"},
    {"host.pageable_bandwidth", "bandwidth from pageable memory", "pageable", "copy engine",
     "to GPU", "cudaMemcpyAsync from pageable memory"},
    {"host.pageable_d2h_bandwidth", "bandwidth to pageable memory", "pageable", "copy engine",
     "to host", "cudaMemcpyAsync to pageable memory"},
    {"host.sm_load_bandwidth", "bandwidth of loads", "pinned", "SM", "to GPU",
     "a kernel that loads mapped pinned memory and stores to its own"},
    {"host.sm_store_bandwidth", "bandwidth of stores", "pinned", "SM", "to host",
     "a kernel that stores to mapped pinned memory what it loads from its own"},
    {"host.sm_bidirectional_bandwidth", "bandwidth of loads and stores together", "pinned", "SM",
     "both", "two kernels in two streams, the bytes of both directions"},
};

void add_host_facts(std::vector<Fact>& facts, std::span<const Entry> entries) {
  for (const HostFact& f : host_facts) {
    facts.push_back(best_fact(
        entries,
        {{"link", "host"}, {"memory", f.memory}, {"engine", f.engine}, {"direction", f.direction}},
        named_fact({f.id, "host memory", f.quantity, "B/s"}), f.how, left_out));
  }
  for (const auto& [id, direction] :
       {std::pair{"host.copy_latency", "to GPU"}, {"host.d2h_copy_latency", "to host"}}) {
    Fact fact = named_fact(
        {id, "host memory", fmt::format("time of a small copy {}", direction), "s", Better::lower});
    const Entry* entry =
        find_measured(entries, {{"link", "host, latency"}, {"direction", direction}});
    if (entry == nullptr) {
      fact.reason = left_out;
    } else {
      take(fact, *entry);
      fact.method =
          "4 bytes of pinned memory, one copy behind the other in a graph: without the host's call";
    }
    facts.push_back(std::move(fact));
  }
}

/// Median over the pairs; the interval is of it.
Fact pairs_fact(std::span<const Entry> entries, const char* link, const char* engine,
                const char* direction, Fact fact, const std::string& absent) {
  std::vector<double> values;
  bool staged = false;
  for (const Entry* entry :
       select(entries, {{"link", link}, {"engine", engine}, {"direction", direction}})) {
    if (!entry->metric.value) continue;
    values.push_back(*entry->metric.value);
    fact.evidence.push_back(entry->name);
    fact.repeats += static_cast<int>(entry->samples.size());
    staged = staged || matches(*entry, {{"path", "through the host"}});
    if (entry->bound && (!fact.bound || entry->bound->value > fact.bound->value))
      fact.bound = entry->bound;
  }
  if (values.empty()) {
    fact.reason = absent;
    return fact;
  }
  const auto [low, high] = std::ranges::minmax(values);
  fact.value = median(values);
  fact.interval = median_interval(values);
  fact.method = fmt::format(
      "{}, {}, median of {} pairs ({} to {}){}", engine,
      std::string_view(direction) == "both" ? "the bytes of both directions" : "one direction",
      values.size(), format_quantity(low, fact.unit), format_quantity(high, fact.unit),
      staged ? ", some of them through the host for want of peer access" : "");
  return fact;
}

void add_peer_facts(std::vector<Fact>& facts, std::span<const Entry> entries,
                    const Surroundings& around) {
  const auto add = [&](const char* id, const char* quantity, const char* engine,
                       const char* direction) {
    // The sender's copy engine has a way through the host; the others need access.
    const bool by_sm = std::string_view(engine) != "copy engine";
    facts.push_back(pairs_fact(entries, "peer", engine, direction,
                               named_fact({id, "another GPU", quantity, "B/s"}),
                               why_no_peer(around, by_sm)));
  };
  add("peer.bandwidth", bandwidth, "copy engine", "one way");
  add("peer.bidirectional_bandwidth", "bandwidth, both directions together", "copy engine", "both");
  add("peer.read_bandwidth", "bandwidth, the receiver's copy engine", "copy engine reads",
      "one way");
  add("peer.read_bidirectional_bandwidth",
      "bandwidth, the receivers' copy engines, both directions together", "copy engine reads",
      "both");
  add("peer.sm_load_bandwidth", "bandwidth of loads", "SM loads", "one way");
  add("peer.sm_store_bandwidth", "bandwidth of stores", "SM stores", "one way");
  add("peer.sm_load_bidirectional_bandwidth", "bandwidth of loads, both directions together",
      "SM loads", "both");
  add("peer.sm_store_bidirectional_bandwidth", "bandwidth of stores, both directions together",
      "SM stores", "both");
  Fact latency =
      named_fact({"peer.copy_latency", "another GPU", "time of a small copy", "s", Better::lower});
  facts.push_back(pairs_fact(entries, "peer, latency", "copy engine", "one way", std::move(latency),
                             why_no_peer(around, false)));
  Fact load =
      named_fact({"peer.load_latency", "another GPU", "time of a load", "s", Better::lower});
  facts.push_back(pairs_fact(entries, "peer, latency", "SM loads", "one way", std::move(load),
                             why_no_peer(around, true)));
}

void add_nccl_facts(std::vector<Fact>& facts, std::span<const Entry> entries,
                    const Surroundings& around) {
  for (const Collective collective : collectives) {
    const CollectiveNames names = names_of(collective);
    facts.push_back(
        best_fact(entries, {{"link", "NCCL"}, {"collective", names.name}},
                  named_fact({fmt::format("nccl.{}_bus_bandwidth", names.id), "all GPUs",
                              fmt::format("bus bandwidth of {}", names.name), "B/s"}),
                  fmt::format("NCCL {}.{}.{}, timed and counted as nccl-tests does",
                              around.nccl_version / 10000, around.nccl_version / 100 % 100,
                              around.nccl_version % 100),
                  why_no_nccl(around)));
  }
}

View curve(const char* title, std::vector<std::pair<std::string, std::vector<AxisValue>>> where,
           std::vector<std::string> series) {
  return {.kind = View::Kind::plot,
          .title = title,
          .where = std::move(where),
          .x = "size",
          .x_label = "Size (B)",
          .y_label = "Bandwidth",
          .x_log2 = true,
          .series = std::move(series),
          .show_expected = false};
}

View matrix(const char* title, const char* link, const char* engine, const char* figure) {
  return {.kind = View::Kind::heat_map,
          .title = title,
          .note = "Rows send, columns receive.",
          .where = {{"link", {link}}, {"engine", {engine}}, {"direction", {"one way"}}},
          .x = "to GPU",
          .x_label = "To GPU",
          .y_label = figure,
          .y_axis = "from GPU"};
}

std::vector<View> views(std::span<const Entry> entries) {
  std::vector<View> result{
      curve("Host link by size, copy engine", {{"link", {"host"}}, {"engine", {"copy engine"}}},
            {"memory", "direction"}),
      curve("Host link by size, loads and stores of kernels",
            {{"link", {"host"}}, {"engine", {"SM"}}}, {"direction"})};
  result[0].overview = true;
  if (!select(entries, {{"link", "peer"}}).empty()) {
    result.push_back(matrix("GPU to GPU, copy engine", "peer", "copy engine", bandwidth_label));
    result.back().overview = true;
    if (!select(entries, {{"link", "peer"}, {"engine", "copy engine reads"}}).empty())
      result.push_back(matrix("GPU to GPU, copy engine of the receiver", "peer",
                              "copy engine reads", bandwidth_label));
    if (!select(entries, {{"link", "peer"}, {"engine", "SM loads"}}).empty()) {
      result.push_back(
          matrix("GPU to GPU, loads of the receiving SMs", "peer", "SM loads", bandwidth_label));
      result.push_back(
          matrix("GPU to GPU, stores of the sending SMs", "peer", "SM stores", bandwidth_label));
    }
    if (!select(entries, {{"link", "peer, latency"}, {"engine", "copy engine"}}).empty())
      result.push_back(
          matrix("GPU to GPU, time of a small copy", "peer, latency", "copy engine", "Time"));
    if (!select(entries, {{"link", "peer, latency"}, {"engine", "SM loads"}}).empty())
      result.push_back(matrix("GPU to GPU, time of a load by the receiving SMs", "peer, latency",
                              "SM loads", "Time"));
    View table{.title = "Pairs of GPUs",
               .where = {{"link", {"peer"}}},
               .columns = {"engine", "direction", "from GPU", "to GPU", "path", "metric",
                           "interval", "bound", "of_bound", "verdict"}};
    result.push_back(table);
  }
  if (!select(entries, {{"link", "NCCL"}}).empty()) {
    View collectives_view =
        curve("Bus bandwidth of NCCL's collectives by size", {{"link", {"NCCL"}}}, {"collective"});
    collectives_view.y_label = "Bus bandwidth";
    collectives_view.overview = true;
    result.push_back(collectives_view);
  }
  if (!select(entries, {{"link", "NCCL, queued"}}).empty()) {
    View queued = curve("Bus bandwidth of NCCL's collectives that were queued before",
                        {{"link", {"NCCL, queued"}}}, {"collective"});
    queued.y_label = "Bus bandwidth";
    queued.note =
        "Without what the host takes to call them: as in a CUDA graph, or behind other work.";
    result.push_back(queued);
  }
  View latency{.title = "Time of a copy of 4 bytes",
               .where = {{"link", {"host, latency"}}},
               .columns = {"direction", "metric", "interval", "verdict"}};
  result.push_back(latency);
  return result;
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  const Surroundings around = surroundings_of(entries);
  Findings findings;
  add_host_facts(findings.facts, entries);
  add_peer_facts(findings.facts, entries, around);
  add_nccl_facts(findings.facts, entries, around);
  const auto peer = std::ranges::find(findings.facts, "peer.bandwidth", &Fact::id);
  findings.answer = answer_from(
      findings.facts,
      "The link to the host carries {host.bandwidth} to the GPU and {host.d2h_bandwidth} back from "
      "and to pinned memory, {host.bidirectional_bandwidth} both ways together, "
      "{host.pageable_bandwidth} from pageable memory" +
          (peer->value ? "; a pair of GPUs {peer.bandwidth} one way and "
                         "{peer.bidirectional_bandwidth} both ways."
                       : fmt::format("; between GPUs nothing was measured ({}).", peer->reason)));
  findings.views = views(entries);
  return findings;
}

}  // namespace fathom::links
