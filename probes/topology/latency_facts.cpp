#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/fact_parts.h"
#include "probes/topology/topology_facts.h"
#include "probes/topology/names.h"
#include "results/statistics.h"

// Facts from latencies.

namespace fathom::topology {

Fact missing(const Subject& s, std::string reason) {
  Fact fact;
  fact.id = "topology." + s.id;
  fact.subject = s.subject;
  fact.quantity = s.quantity;
  fact.unit = s.unit;
  fact.reason = std::move(reason);
  return fact;
}

Fact stated(const Subject& s, double value, std::string method, std::vector<std::string> evidence,
            int repeats) {
  Fact fact = missing(s, "");
  fact.value = value;
  fact.method = std::move(method);
  fact.evidence = std::move(evidence);
  fact.repeats = repeats;
  return fact;
}

Fact stated(const Subject& s, double value, std::string method, const Matrix& matrix) {
  Fact fact = stated(s, value, std::move(method), matrix.evidence, matrix.repeats);
  fact.counters = matrix.counters;
  return fact;
}

Fact with_bound_of_index(Fact fact) {
  fact.bound = Bound{1, "two groupings that are the same"};
  return fact;
}

void add_published(Fact& fact, double published) {
  if (published > 0) fact.published = Published{published, published_source};
}

Subject agreement(std::string id, std::string subject) {
  return {std::move(id), std::move(subject), "agreement", ""};
}

std::pair<double, double> fewest_and_most(const Labels& labels) {
  const auto groups = members(labels);
  const auto [fewest, most] = std::ranges::minmax(groups, {}, &std::vector<std::size_t>::size);
  return {static_cast<double>(fewest.size()), static_cast<double>(most.size())};
}

void add_partitions(std::vector<Fact>& facts, const Topology& t) {
  const Partitions& p = t.partitions;
  const Subject number{"l2_partitions", "L2", "partitions", "partitions"};
  const Subject penalty{"partition_penalty", "far partition of the L2", "added latency", "cycles"};
  const Subject again{"partition_reproducibility", "SMs by L2 partition, two sets of lines",
                      "agreement", ""};
  const auto near = [](char side) {
    return Subject{fmt::format("sms_near_partition_{}", side), fmt::format("L2 partition {}", side),
                   "SMs near it", "SMs"};
  };
  if (!p.reason.empty()) {
    for (const Subject& s : {number, near('a'), near('b'), penalty, again}) {
      facts.push_back(missing(s, p.reason));
    }
    return;
  }
  facts.push_back(stated(
      number, number_of_groups(p.labels),
      fmt::format("{} latencies: to which lines an SM is near and to which far, of whose variance "
                  "that is {:.2f}",
                  p.instruction, p.separation),
      p.matrix));
  const auto sides = members(p.labels);
  for (std::size_t side = 0; side < sides.size(); ++side) {
    facts.push_back(stated(near(static_cast<char>('a' + side)),
                           static_cast<double>(sides[side].size()),
                           fmt::format("SM {}; nearest to {} of {} lines", ranges(sides[side]),
                                       p.lines[side], p.matrix.rows.front().size()),
                           p.matrix));
  }
  facts.push_back(stated(penalty, p.penalty,
                         fmt::format("{}, mean over lines of the far side's SMs less the near "
                                     "side's",
                                     p.instruction),
                         p.matrix));
  facts.back().better = Better::lower;
  facts.push_back(with_bound_of_index(
      stated(again, p.reproducibility,
             "adjusted Rand index of the groups from one set of lines and the other's", p.matrix)));
}

void add_latency_groups(std::vector<Fact>& facts, const Topology& t) {
  const LatencyGroups& l = t.latency;
  const Subject number{"latency_groups", "SMs by latency", "groups", "groups"};
  const Subject again{"reproducibility", "SMs by latency, two sets of lines", "agreement", ""};
  if (l.groups.labels.empty()) {
    for (const Subject& s : {number, again}) facts.push_back(missing(s, l.reason));
    return;
  }
  if (!l.reason.empty()) {
    facts.push_back(missing(number, l.reason));
  } else {
    facts.push_back(stated(
        number, l.groups.groups,
        fmt::format(
            "correlation of {} latencies, average linkage; fewest groups at a peak of the "
            "silhouette ({:.2f}) within two standard errors of the widest ({:.2f}, {} groups)",
            load_instruction, l.groups.silhouette, l.widest_silhouette, l.widest),
        t.loads));
  }
  facts.push_back(
      with_bound_of_index(stated(again, l.reproducibility,
                                 fmt::format("adjusted Rand index of {} groups from one set of "
                                             "lines and as many from another, each grouped by "
                                             "itself",
                                             l.groups.groups),
                                 t.loads)));
}

void add_latencies(std::vector<Fact>& facts, const Topology& t) {
  const Subject nearest{"l2_latency_nearest_sm", "L2, nearest SM", "latency", "cycles"};
  const Subject farthest{"l2_latency_farthest_sm", "L2, farthest SM", "latency", "cycles"};
  if (!t.loads.reason.empty()) {
    facts.push_back(missing(nearest, t.loads.reason));
    facts.push_back(missing(farthest, t.loads.reason));
  } else {
    std::vector<double> means;
    for (const auto& row : t.loads.rows) means.push_back(interquartile_mean(row));
    const auto [low, high] = std::ranges::minmax_element(means);
    for (const auto& [s, at] : {std::pair{nearest, low}, {farthest, high}}) {
      facts.push_back(
          stated(s, *at,
                 fmt::format("SM {}: {} of single lines, interquartile mean over {} of "
                             "them",
                             at - means.begin(), load_instruction, t.loads.rows.front().size()),
                 t.loads));
    }
  }
  for (Fact& fact : std::span(facts).last(2)) fact.better = Better::lower;
}

void add_lines(std::vector<Fact>& facts, const Topology& t) {
  const Subject s{"l2_line_groups", "L2 lines by latency", "groups", "groups"};
  if (!t.lines.reason.empty()) {
    facts.push_back(missing(s, t.lines.reason));
    return;
  }
  facts.push_back(
      stated(s, t.lines.groups,
             fmt::format("correlation of {} latencies over the SMs, average linkage, "
                         "silhouette; even and odd SMs agree to an adjusted Rand index of "
                         "{:.2f}",
                         load_instruction, t.lines.agreement),
             t.lines.matrix));
}

}  // namespace fathom::topology
