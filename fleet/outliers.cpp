#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "fleet/fleet.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::fleet {
namespace {

/// Fewer cards of one kind of settings than this are held against the model's most frequent kind:
/// their settings may be why they differ.
constexpr std::size_t enough_for_own_group = 8;
constexpr std::size_t fewest_cards = 3;
constexpr double assumed_freedom = 30;
/// The efficiency of the median absolute deviation against the standard deviation, for normal
/// samples.
constexpr double spread_efficiency = 0.37;

/// The settings that make a card faster or slower.
std::string performance_settings(const Settings& settings) {
  std::string text;
  for (const char* name : {"ECC", "MIG", "confidential computing", "driver", "highest SM clock",
                           "highest memory clock", "power limit"})
    if (const auto own = settings.find(name); own != settings.end())
      text += (text.empty() ? "" : ", ") + own->first + " " + own->second;
  return text;
}

double square(double x) { return x * x; }

/// How much worse a figure is than `reference`, as a logarithm; nothing unless both are above 0.
std::optional<double> gap_of(Reading figure, std::optional<double> reference, Better better) {
  if (!(*figure > 0) || !(reference > 0)) return std::nullopt;
  const double ratio = std::log(*figure / *reference);
  return better == Better::higher ? -ratio : ratio;
}

/// The median over a group's cards; nothing where fewer than that have a value.
std::optional<double> usual_of(const Fleet& fleet, const Group& group, std::size_t fewest,
                               const auto& value_of) {
  std::vector<double> values;
  for (const std::size_t gpu : group.members)
    if (const auto one = value_of(fleet.gpus[gpu])) values.push_back(*one);
  return values.size() < fewest ? std::nullopt : std::optional(median(values));
}

/// One card's gap in one metric, and what is known of its noise beforehand.
struct Gap {
  std::size_t member;  ///< place in the group
  double value;
  double noise;
};

/// What is compared of one metric. Cards that have both figures and those that have one of them are
/// not alike in their noise: each kind is held against its own.
struct Columns {
  double median = 0;  ///< of the figures together, else alone
  std::vector<Gap> both, one, loss;
};

Columns columns_of(const Fleet& fleet, const Group& group, std::size_t metric) {
  const Better better = fleet.metrics[metric].better;
  const auto usual = [&](Reading MetricFigures::*state) {
    return usual_of(fleet, group, fewest_cards,
                    [&](const GpuSummary& gpu) { return gpu.at(metric).*state; });
  };
  const auto alone = usual(&MetricFigures::alone), together = usual(&MetricFigures::together);
  Columns columns{together.value_or(alone.value_or(0)), {}, {}, {}};
  std::vector<double> losses;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const MetricFigures figures = fleet.gpus[group.members[i]].at(metric);
    const double noise = figures.noise ? *figures.noise : 0;
    const auto a = gap_of(figures.alone, alone, better);
    const auto t = gap_of(figures.together, together, better);
    if (a && t) {
      columns.both.push_back({i, (*a + *t) / 2, noise / std::sqrt(2.0)});
      losses.push_back(gap_of(figures.together, *figures.alone, better).value());
      columns.loss.push_back({i, losses.back(), noise * std::sqrt(2.0)});
    } else if (a || t) {
      columns.one.push_back({i, a ? *a : *t, noise});
    }
  }
  const double usual_loss = median_or_none(losses).value_or(0);
  for (Gap& gap : columns.loss) gap.value -= usual_loss;
  return columns;
}

double badness(const Finding& finding) {
  return finding.limit > 0 ? finding.score / finding.limit : 0;
}

/// How often a card is tested: metrics that enough cards of a group have to be held against each
/// other, twice where they have a loss. What only one card of each host counts may have fewer.
double tests_of(const Fleet& fleet, const Group& group) {
  double tests = 0;
  for (std::size_t metric = 0; metric < fleet.metrics.size(); ++metric) {
    std::size_t any = 0, both = 0;
    for (const std::size_t gpu : group.members) {
      const MetricFigures figures = fleet.gpus[gpu].at(metric);
      const bool a(figures.alone), t(figures.together);
      any += a || t, both += a && t;
      if (both >= fewest_cards) break;
    }
    tests += both >= fewest_cards ? 2 : any >= fewest_cards ? 1 : 0;
  }
  return std::max(1.0, tests);
}

/// A step of a clock is 15 MHz: closer together they are the same.
bool is_lower(double own, double others) { return own < others * (1 - 0.004); }
bool is_higher(double own, double others) { return own > others; }
bool is_hotter(double own, double others) { return own >= others + 8; }

/// What of a card's health may be a cause, and when it is one beside the others' median.
constexpr struct {
  const char *what, *unit;
  std::optional<double> Health::*value;
  bool (*is_cause)(double own, double others);
} channels[] = {{"memory clock", "Hz", &Health::memory_clock_hz, is_lower},
                {"power limit", "W", &Health::power_limit_w, is_lower},
                {"temperature", "C", &Health::temperature_c, is_hotter},
                {"uncorrected ECC errors", "", &Health::uncorrected_ecc_errors, is_higher},
                {"remapped memory rows", "", &Health::remapped_rows, is_higher},
                {"PCIe generation", "", &Health::pcie_generation, is_lower},
                {"PCIe lanes", "", &Health::pcie_width, is_lower},
                {"other processes", "", &Health::other_processes, is_higher}};

std::string beside(const char* what, double own, double others, const char* unit) {
  return fmt::format("{} {}, the others' {}", what, format_quantity(own, unit),
                     format_quantity(others, unit));
}

/// Gives the findings of a group's cards their likely causes.
void add_causes(const Fleet& fleet, const Group& group, std::vector<CardScore>& cards) {
  std::vector<std::optional<double>> usual;  // of the channels
  for (const auto& channel : channels)
    usual.push_back(usual_of(fleet, group, 1,
                             [&](const GpuSummary& gpu) { return gpu.health.*channel.value; }));
  std::map<std::string, std::size_t> reasons;  // how many cards have each
  std::map<std::string, std::map<std::string, std::size_t>> settings;
  for (const std::size_t gpu : group.members) {
    const GpuSummary& summary = fleet.gpus[gpu];
    for (const std::string& reason : summary.health.throttle_reasons) ++reasons[reason];
    for (const char* name : {"ECC", "MIG", "driver"})
      if (const auto own = summary.settings.find(name); own != summary.settings.end())
        ++settings[name][own->second];
  }
  std::map<std::size_t, std::optional<double>> clocks;  // the group's of the SMs, by metric
  for (CardScore& card : cards) {
    const GpuSummary& summary = fleet.gpus[card.gpu];
    const Health& own = summary.health;
    std::vector<std::string> found;  // for all metrics
    std::vector<std::string> rare;   // what fewer than a quarter have
    for (const std::string& reason : own.throttle_reasons)
      if (4 * reasons[reason] <= group.members.size() + 3) rare.push_back(reason);
    if (!rare.empty()) found.push_back(fmt::format("clocks held down: {}", fmt::join(rare, ", ")));
    for (std::size_t i = 0; i < usual.size(); ++i) {
      const auto& [what, unit, value, is_cause] = channels[i];
      if (own.*value && usual[i] && is_cause(*(own.*value), *usual[i]))
        found.push_back(beside(what, *(own.*value), *usual[i], unit));
    }
    if (own.remapping_failed) found.push_back("a remapping of memory rows failed");
    if (own.remapping_pending) found.push_back("memory rows wait for a reset to be remapped");
    for (const auto& [name, values] : settings) {
      const auto most =
          std::ranges::max_element(values, {}, [](const auto& v) { return v.second; });
      const auto value = summary.settings.find(name);
      if (value != summary.settings.end() && value->second != most->first &&
          2 * most->second > group.members.size())
        found.push_back(fmt::format("{} {}, the others' {}", name, value->second, most->first));
    }
    const auto explain = [&](Finding& finding) {
      const auto clock_of = [&](const GpuSummary& gpu) {
        return gpu.at(finding.metric).sm_clock_hz;
      };
      if (beyond_measured(finding.gap))
        finding.causes.push_back("beyond anything measured: the figure itself is wrong");
      if (!clocks.contains(finding.metric))
        clocks[finding.metric] = usual_of(fleet, group, 1, clock_of);
      const Reading clock = clock_of(summary);
      if (const auto others = clocks[finding.metric]; clock && others && is_lower(*clock, *others))
        finding.causes.push_back(beside("SM clock", *clock, *others, "Hz"));
      finding.causes.insert(finding.causes.end(), found.begin(), found.end());
    };
    explain(card.worst);
    std::ranges::for_each(card.findings, explain);
  }
}

/// Scores all metrics of one group, and adds its cards and distributions.
void score_group(const Fleet& fleet, std::size_t number, const OutlierOptions& options,
                 Outliers& outliers) {
  const Group& group = outliers.groups[number];
  std::vector<CardScore> cards(group.members.size());
  for (std::size_t i = 0; i < cards.size(); ++i) cards[i] = {group.members[i], number, {}, {}};
  const double chance = options.false_names / tests_of(fleet, group);
  std::mutex mutex;
  in_parallel(fleet.metrics.size(), [&](std::size_t metric) {
    const Columns columns = columns_of(fleet, group, metric);
    bool distributed = false;
    for (const auto& [compared, gaps] : {std::pair(Compared::level, &columns.both),
                                         {Compared::level, &columns.one},
                                         {Compared::loss, &columns.loss}}) {
      if (gaps->size() < fewest_cards) continue;
      std::vector<double> values, noises;
      for (const Gap& gap : *gaps) {
        values.push_back(gap.value);
        noises.push_back(gap.noise);
      }
      const double robust = robust_spread(values), typical_noise = median(noises);
      const double seen = spread_efficiency * (static_cast<double>(gaps->size()) - 1);
      const double freedom = assumed_freedom + seen;
      const double assumed = square(options.card_noise) + square(typical_noise);
      const double moderated =
          std::sqrt((assumed_freedom * assumed + seen * robust * robust) / freedom);
      const double deviation = std::max(moderated, robust);
      const double limit = student_upper_quantile(freedom, chance);
      const std::lock_guard guard(mutex);
      if (compared == Compared::level && !std::exchange(distributed, true)) {
        for (double& value : values) value = std::expm1(value);
        std::ranges::sort(values);
        Distribution& d = outliers.distributions.emplace_back(
            Distribution{number, metric, values.size(), columns.median, {}, robust});
        for (const double p : distribution_points) d.quantiles.push_back(quantile(values, p));
      }
      for (const auto& [member, gap, noise] : *gaps) {
        const double excess = std::max(0.0, square(noise) - square(typical_noise));
        const Finding finding{metric, compared, std::expm1(gap),
                              gap / std::sqrt(square(deviation) + excess), limit};
        CardScore& card = cards[member];
        if (card.worst.limit == 0 || badness(finding) > badness(card.worst)) card.worst = finding;
        if (finding.score >= finding.limit && finding.gap >= options.least_gap)
          card.findings.push_back(finding);
      }
    }
  });
  for (CardScore& card : cards)
    std::ranges::sort(card.findings, {}, [](const Finding& f) {
      return std::tuple(-badness(f), f.metric, f.compared);
    });
  add_causes(fleet, group, cards);
  std::ranges::move(cards, std::back_inserter(outliers.cards));
}

}  // namespace

std::vector<Group> groups_of(const Fleet& fleet) {
  std::map<std::string, std::map<std::string, std::vector<std::size_t>>> kinds;
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i) {
    const GpuSummary& gpu = fleet.gpus[i];
    if (!gpu.figures.empty() && !gpu.model.empty())
      kinds[gpu.model][performance_settings(gpu.settings)].push_back(i);
  }
  std::vector<Group> groups;
  for (const auto& [model, by_settings] : kinds) {
    const auto most = std::ranges::max_element(by_settings, {},
                                               [](const auto& kind) { return kind.second.size(); });
    const std::size_t main = groups.size();
    groups.push_back({model, most->first, most->second});
    for (const auto& [settings, members] : by_settings)
      if (settings != most->first && members.size() >= enough_for_own_group)
        groups.push_back({model, settings, members});
      else if (settings != most->first)
        std::ranges::copy(members, std::back_inserter(groups[main].members));
    std::ranges::sort(groups[main].members);
  }
  return groups;
}

std::vector<DifferingSetting> differing_settings(const Fleet& fleet) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<std::size_t>>>
      all;
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i)
    if (const std::string& model = fleet.gpus[i].model; !model.empty())
      for (const auto& [name, value] : fleet.gpus[i].settings)
        all[{model, name}][value].push_back(i);
  std::vector<DifferingSetting> differing;
  for (const auto& [key, values] : all) {
    if (values.size() < 2) continue;
    auto& setting = differing.emplace_back(DifferingSetting{key.first, key.second, {}});
    setting.values.assign(values.begin(), values.end());
    std::ranges::stable_sort(setting.values, std::greater{},
                             [](const auto& value) { return value.second.size(); });
  }
  return differing;
}

std::size_t Outliers::named() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(cards, [](const CardScore& card) { return !card.findings.empty(); }));
}

Outliers find_outliers(const Fleet& fleet, const OutlierOptions& options) {
  Outliers outliers;
  outliers.groups = groups_of(fleet);
  for (std::size_t i = 0; i < outliers.groups.size(); ++i) score_group(fleet, i, options, outliers);
  std::ranges::sort(outliers.cards, {}, [](const CardScore& card) {
    return std::tuple(card.findings.empty(), -badness(card.worst), card.gpu);
  });
  std::ranges::sort(outliers.distributions, {},
                    [](const Distribution& d) { return std::pair(d.group, d.metric); });
  return outliers;
}

bool beyond_measured(double gap) {
  constexpr double times = 1000;  // one lane of PCIe 1 for sixteen of PCIe 5 is 256
  return gap > times - 1 || gap < 1 / times - 1;
}

std::string kind_of(const Finding& finding, const MetricFigures& figures) {
  if (finding.compared == Compared::loss) return "loses more together";
  if (figures.alone && figures.together) return "alone and together";
  return figures.alone ? "alone" : "together";
}

std::string gap_text(double gap) {
  if (!beyond_measured(gap)) return fmt::format("{:.2f} %", 100 * gap);
  return fmt::format("over 1,000 times{}", gap < 0 ? " better" : "");
}

std::string cause_text(const Finding& finding) {
  return finding.causes.empty() ? "nothing in the telemetry"
                                : fmt::format("{}", fmt::join(finding.causes, "; "));
}

}  // namespace fathom::fleet
