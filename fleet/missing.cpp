#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "fleet/fleet.h"
#include "results/exit_codes.h"
#include "results/format.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t fewest_peers = 3;

struct State {
  Reading MetricFigures::*figure;
  const char* name;
};
constexpr std::array states{State{&MetricFigures::alone, "alone"},
                            State{&MetricFigures::together, "together"}};

/// A number of mismatches may be 0, and so may a share. A rate, a time or an energy is none then.
bool possible(double value, const std::string& unit) {
  constexpr std::array<std::string_view, 7> quantities{"s", "cycles", "clocks", "W",
                                                       "J", "B",      "Hz"};
  const bool may_be_zero =
      unit.find('/') == std::string::npos && !std::ranges::count(quantities, unit);
  return value > 0 || (value == 0 && may_be_zero);
}

std::string why_not(double value, const std::string& unit) {
  return format_quantity(value, unit) + " is no measurement";
}

/// Whether it collects the probe's counters: cases that only counters decide are not on every card.
bool collects_counters(const GpuSummary& s, std::string_view probe) {
  return s.no_counters.empty() &&
         (s.counters_of.empty() || std::ranges::count(s.counters_of, probe) > 0);
}

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
  std::map<std::string, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i) {
    const GpuSummary& s = fleet.gpus[i].summary;
    if (s.status == GpuStatus::complete && s.exit_code == 0) kinds[kind_of(s)].push_back(i);
  }
  struct Peers {
    std::size_t have = 0;
    std::vector<std::size_t> lack;
  };
  for (const auto& [kind, members] : kinds)
    for (std::size_t metric = 0; metric < fleet.metrics.size(); ++metric) {
      const std::string& name = fleet.metrics[metric].name;
      const std::string_view probe = std::string_view(name).substr(0, name.find('/'));
      for (const State& state : states) {
        std::array<Peers, 2> peers;  // those that collect the probe's counters have more cases
        for (const std::size_t gpu : members) {
          Peers& own = peers[collects_counters(fleet.gpus[gpu].summary, probe)];
          if (fleet.gpus[gpu].at(metric).*state.figure)
            ++own.have;
          else
            own.lack.push_back(gpu);
        }
        for (const auto& [have, lack] : peers)
          if (have + lack.size() >= fewest_peers && have > lack.size())
            for (const std::size_t gpu : lack) {
              auto& missing = fleet.gpus[gpu].missing;
              // Instead of a name without any figure.
              std::erase_if(missing, [&](const MissingFigure& m) {
                return m.figure == name && m.when.empty();
              });
              missing.push_back({name, state.name, "none, and cards of its kind have one"});
            }
      }
    }
}

void drop_impossible(const std::vector<MetricName>& metrics, FleetGpu& gpu) {
  for (std::size_t i = 0; i < gpu.figures.size(); ++i) {
    MetricFigures& figures = gpu.figures[i];
    for (const State& state : states) {
      Reading& figure = figures.*state.figure;
      if (!figure || possible(*figure, metrics[i].unit)) continue;
      gpu.missing.push_back({metrics[i].name, state.name, why_not(*figure, metrics[i].unit)});
      figure = {};
    }
    if (figures.noise && *figures.noise < 0) figures.noise = {};
    if (figures.sm_clock_hz && !(*figures.sm_clock_hz > 0)) figures.sm_clock_hz = {};
  }
}

/// Telemetry explains figures: what it cannot have read explains nothing.
void drop_impossible(Health& h) {
  for (auto* above_zero : {&h.sm_clock_hz, &h.memory_clock_hz, &h.power_w, &h.power_limit_w,
                           &h.pcie_generation, &h.pcie_width})
    if (*above_zero && !(**above_zero > 0)) above_zero->reset();
  for (auto* count : {&h.uncorrected_ecc_errors, &h.remapped_rows, &h.other_processes})
    if (*count && !(**count >= 0)) count->reset();
}

/// "missing: copy/best together (0 B/s is no measurement) and 2 more"
std::string missing_text(const std::vector<MissingFigure>& missing) {
  constexpr std::size_t most = 3;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(most, missing.size()); ++i)
    shown.push_back(fmt::format("{}{}{} ({})", missing[i].figure,
                                missing[i].when.empty() ? "" : " ", missing[i].when,
                                missing[i].reason));
  return fmt::format(
      "missing: {}{}", fmt::join(shown, ", "),
      missing.size() > most ? fmt::format(" and {} more", missing.size() - most) : "");
}

void make_incomplete(FleetGpu& gpu) {
  if (gpu.missing.empty()) return;
  std::ranges::sort(gpu.missing, {},
                    [](const MissingFigure& m) { return std::tie(m.figure, m.when); });
  GpuSummary& s = gpu.summary;
  s.reason += (s.reason.empty() ? "" : "; ") + missing_text(gpu.missing);
  if (s.status == GpuStatus::complete) s.status = GpuStatus::partial;
  if (s.exit_code == 0) s.exit_code = to_int(ExitCode::incomplete);
}

void drop_impossible(HostLinks& links, std::vector<Problem>& problems) {
  std::vector<MissingFigure> missing;
  for (LinkFact& fact : links.facts) {
    if (fact.bound && !(*fact.bound > 0)) fact.bound.reset();
    if (!fact.value || possible(*fact.value, fact.unit)) continue;
    fact.reason = why_not(*fact.value, fact.unit);
    missing.push_back({fact.quantity, fact.subject, fact.reason});
    fact.value.reset();
  }
  for (LinkPair& pair : links.pairs) {
    const LinkKind& kind = links.kinds[pair.kind];
    if (pair.bound && !(*pair.bound > 0)) pair.bound = {};
    if (!pair.value || *pair.value > 0) continue;
    missing.push_back({fmt::format("{}, {}", kind.engine, kind.direction),
                       fmt::format("GPU {} to {}", pair.from, pair.to),
                       why_not(*pair.value, kind.unit)});
    pair.value = {};
  }
  if (!missing.empty())
    problems.push_back(
        {"links of " + links.host, missing_text(missing), to_int(ExitCode::incomplete)});
}

}  // namespace

void find_missing_figures(Fleet& fleet) {
  find_absent(fleet);
  for (FleetGpu& gpu : fleet.gpus) {
    drop_impossible(fleet.metrics, gpu);
    drop_impossible(gpu.summary.health);
    make_incomplete(gpu);
  }
  for (HostLinks& links : fleet.links) drop_impossible(links, fleet.problems);
}

}  // namespace fathom::fleet
