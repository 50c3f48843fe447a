#include "probes/memory_latency/curve.h"

#include <fmt/format.h>

#include <utility>

namespace fathom::memory_latency {
namespace {

constexpr std::size_t fewest_points = 8;
constexpr double same_hits = 0.02;

}  // namespace

Curve curve(std::span<const Entry> all, const AxisFilter& filter, RampScale scale) {
  Curve result;
  for (const Entry* entry : select(all, filter)) {
    if (!entry->metric.value) continue;
    result.entries.push_back(entry);
    result.samples += static_cast<int>(entry->samples.size());
  }
  if (result.entries.size() >= fewest_points)
    result.cut = segment(curve_of(result.entries, working_set), {.scale = scale});
  return result;
}

void add_evidence(Fact& fact, const Curve& c) {
  fact.repeats += c.samples;
  for (const Entry* entry : c.entries) fact.evidence.push_back(entry->name);
}

Fact missing_size(std::string id, std::string subject, std::string reason) {
  return missing_fact({std::move(id), std::move(subject), "size", "B"}, std::move(reason));
}

Fact size_at(const Curve& c, std::size_t index, std::string id, std::string subject,
             std::string quantity) {
  const Boundary& boundary = c.cut->boundaries.at(index);
  Fact fact = named_fact({std::move(id), std::move(subject), std::move(quantity), "B"});
  fact.value = boundary.below_x;
  fact.interval = boundary.interval;
  fact.method = fmt::format(
      "largest working set before the chase's latency leaves {}; {} regimes by change-point "
      "segmentation of {} points",
      c.cut->regimes.at(index).kind == Regime::Kind::plateau ? "its plateau" : "its line",
      c.cut->regimes.size(), c.entries.size());
  if (c.cut->stability) {
    fact.method +=
        fmt::format(", the same in {:.0f} % of the bootstrapped curves", 100 * *c.cut->stability);
  }
  add_evidence(fact, c);
  return fact;
}

std::string no_change(const Curve& c) {
  return fmt::format("the latency stays on one plateau up to {:.0f} B, the largest set tried",
                     c.cut->regimes.back().last_x);
}

std::optional<std::size_t> end_of_hits(const Segmentation& cut) {
  for (std::size_t i = 0; i < cut.boundaries.size(); ++i)
    if (cut.regimes[i + 1].last_y > cut.regimes.front().level * (1 + same_hits)) return i;
  return std::nullopt;
}

}  // namespace fathom::memory_latency
