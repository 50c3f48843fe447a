#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "fleet/fleet.h"
#include "results/error.h"
#include "results/text.h"

namespace fathom::fleet {
namespace {

constexpr std::pair<const char*, Reading MetricFigures::*> states[] = {
    {"alone", &MetricFigures::alone}, {"together", &MetricFigures::together}};

/// Takes out a figure that no measurement gives. A number of mismatches may be 0, and so may a
/// share; a rate, a time or an energy is none then.
void drop_impossible(auto& figure, const std::string& unit, const std::string& name,
                     std::string_view when, std::vector<MissingFigure>& missing) {
  if (!figure || *figure > 0) return;
  constexpr std::string_view quantities[] = {"s", "cycles", "clocks", "W", "J", "B", "Hz"};
  const bool may_be_zero =
      unit.find('/') == std::string::npos && std::ranges::count(quantities, unit) == 0;
  if (*figure == 0 && may_be_zero) return;
  missing.push_back(
      {name, std::string(when), format_quantity(*figure, unit) + " is no measurement"});
  figure = {};
}

/// Noise and telemetry explain figures: what they cannot be explains nothing.
void drop_below(double least, auto&... values) {
  const auto drop = [&](auto& value) {
    if (value && !(*value >= least)) value = {};
  };
  (drop(values), ...);
}
/// Above 0, that is.
constexpr double tiniest = std::numeric_limits<double>::min();

/// What cards have in common that should have the same figures.
std::string kind_of(const GpuSummary& s) {
  const auto build = s.settings.find("Fathom");
  return fmt::format("{}\n{}\n{}\n{}{}{}", s.model, s.suite,
                     build == s.settings.end() ? "" : build->second, bool(s.elapsed_s.alone),
                     bool(s.elapsed_s.together), bool(s.elapsed_s.suite));
}

/// What most cards of a kind have in a state, the others miss. Cards that say themselves what they
/// lack have told it already.
void find_absent(Fleet& fleet) {
  constexpr std::size_t fewest_peers = 3;
  std::map<std::string, std::vector<GpuSummary*>> kinds;
  for (GpuSummary& gpu : fleet.gpus)
    if (gpu.status == GpuStatus::complete && gpu.exit_code == 0)
      kinds[kind_of(gpu)].push_back(&gpu);
  for (const auto& [kind, members] : kinds)
    for (std::size_t metric = 0; metric < fleet.metrics.size(); ++metric) {
      const std::string& name = fleet.metrics[metric].name;
      const std::string_view probe = std::string_view(name).substr(0, name.find('/'));
      for (const auto& [state, figure] : states) {
        struct Peers {
          std::size_t have = 0;
          std::vector<GpuSummary*> lack{};
        } peers[2];  // cases that only counters decide are not on every card
        for (GpuSummary* gpu : members) {
          const auto& of = gpu->counters_of;
          const bool counts =
              gpu->no_counters.empty() && (of.empty() || std::ranges::count(of, probe) > 0);
          if (gpu->at(metric).*figure)
            ++peers[counts].have;
          else
            peers[counts].lack.push_back(gpu);
        }
        for (const auto& [have, lack] : peers) {
          if (have + lack.size() < fewest_peers || have <= lack.size()) continue;
          for (GpuSummary* gpu : lack) {
            std::erase_if(gpu->missing, [&](const MissingFigure& m) {  // a name without any figure
              return m.figure == name && m.when.empty();
            });
            gpu->missing.push_back({name, state, "none, and cards of its kind have one"});
          }
        }
      }
    }
}

/// "missing: copy/best together (0 B/s is no measurement) and 2 more"
std::string missing_text(const std::vector<MissingFigure>& missing) {
  constexpr std::size_t most = 3;
  std::vector<std::string> shown;
  for (const auto& [figure, when, reason] :
       std::span(missing).first(std::min(most, missing.size())))
    shown.push_back(fmt::format("{}{}{} ({})", figure, when.empty() ? "" : " ", when, reason));
  return fmt::format(
      "missing: {}{}", fmt::join(shown, ", "),
      missing.size() > most ? fmt::format(" and {} more", missing.size() - most) : "");
}

void check(GpuSummary& gpu, const std::vector<MetricName>& metrics) {
  for (std::size_t i = 0; i < gpu.figures.size(); ++i) {
    MetricFigures& figures = gpu.figures[i];
    for (const auto& [state, figure] : states)
      drop_impossible(figures.*figure, metrics[i].unit, metrics[i].name, state, gpu.missing);
    drop_below(0, figures.noise);
    drop_below(tiniest, figures.sm_clock_hz);
  }
  Health& h = gpu.health;
  drop_below(tiniest, h.sm_clock_hz, h.memory_clock_hz, h.power_w, h.power_limit_w,
             h.pcie_generation, h.pcie_width);
  drop_below(0, h.uncorrected_ecc_errors, h.remapped_rows, h.other_processes);
  if (gpu.missing.empty()) return;
  std::ranges::sort(gpu.missing, {},
                    [](const MissingFigure& m) { return std::tie(m.figure, m.when); });
  gpu.reason += (gpu.reason.empty() ? "" : "; ") + missing_text(gpu.missing);
  if (gpu.status == GpuStatus::complete) gpu.status = GpuStatus::partial;
  if (gpu.exit_code == 0) gpu.exit_code = to_int(ExitCode::incomplete);
}

void check(HostLinks& links, std::vector<Problem>& problems) {
  std::vector<MissingFigure> missing;
  for (LinkFact& fact : links.facts) {
    drop_below(tiniest, fact.bound);
    const std::size_t before = missing.size();
    drop_impossible(fact.value, fact.unit, fact.quantity, fact.subject, missing);
    if (missing.size() > before) fact.reason = missing.back().reason;
  }
  for (LinkPair& pair : links.pairs) {
    drop_below(tiniest, pair.bound);
    if (!pair.value || *pair.value > 0) continue;
    const auto& [engine, direction, unit] = links.kinds[pair.kind];
    drop_impossible(pair.value, unit, fmt::format("{}, {}", engine, direction),
                    fmt::format("GPU {} to {}", pair.from, pair.to), missing);
  }
  if (!missing.empty())
    problems.push_back(
        {"links of " + links.host, missing_text(missing), to_int(ExitCode::incomplete)});
}

}  // namespace

void find_missing_figures(Fleet& fleet) {
  find_absent(fleet);
  for (GpuSummary& gpu : fleet.gpus) check(gpu, fleet.metrics);
  for (HostLinks& links : fleet.links) check(links, fleet.problems);
}

}  // namespace fathom::fleet
