#include "studies/gate/trials/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "gate/commands/commands.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

template <class Value>
Value named(const std::string& name, const char* what) {
  if (const auto value = from_string<Value>(name)) return *value;
  fail(ExitCode::bad_input, "There is no {} `{}`.", what, name);
}

/// A real fault, the metrics that can have it, and shares from small ones on.
struct FaultKind {
  const char* flag;
  std::vector<std::string> words;
  std::vector<double> shares;
};

const FaultKind fault_kinds[] = {{"conflict", {"shared"}, {0.005, 0.01, 0.03}},
                                 {"uncoalesced", {"read"}, {0.02, 0.05, 0.2}},
                                 {"occupancy", {"read", "copy"}, {0.25, 0.5, 0.75}}};

constexpr std::size_t of_each_fault = 2;

/// "shared" of "gate_victim/shared/warps:4".
std::string second_word(const std::string& metric) {
  const auto first = metric.find('/');
  if (first == std::string::npos) return {};
  return metric.substr(first + 1, metric.find('/', first + 1) - first - 1);
}

void shuffle(std::vector<std::string>& names, std::mt19937_64& generator) {
  // std::shuffle is another one with every standard library.
  for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[generator() % i]);
}

std::vector<Planted> slowdowns(const TrialOptions& options, std::vector<std::string> metrics,
                               std::size_t index, std::mt19937_64& generator) {
  shuffle(metrics, generator);
  const std::size_t wanted =
      options.slowed > 0 ? options.slowed : std::max<std::size_t>(metrics.size() / 3, 1);
  const std::size_t count = std::min(wanted, metrics.size());
  std::vector<Planted> planted;
  for (std::size_t i = 0; i < count; ++i)
    planted.push_back(
        {metrics[i], "slow", options.sizes.at((index * count + i) % options.sizes.size())});
  return planted;
}

std::vector<Planted> real_faults(std::vector<std::string> metrics, std::size_t index,
                                 std::mt19937_64& generator) {
  shuffle(metrics, generator);
  std::vector<Planted> planted;
  std::set<std::string> used;
  for (const FaultKind& kind : fault_kinds) {
    std::size_t found = 0;
    for (const std::string& metric : metrics) {
      if (found == of_each_fault) break;
      const bool fits = std::ranges::find(kind.words, second_word(metric)) != kind.words.end();
      if (!fits || !used.insert(metric).second) continue;
      const double share = kind.shares[(index * of_each_fault + found++) % kind.shares.size()];
      planted.push_back({metric, kind.flag, share});
    }
  }
  return planted;
}

}  // namespace

TrialKind trial_kind(const std::string& name) { return named<TrialKind>(name, "kind of trials"); }
LoadPattern load_pattern(const std::string& name) {
  return named<LoadPattern>(name, "load pattern");
}

TrialPlan plan_trial(const TrialOptions& options, const std::vector<std::string>& metrics,
                     std::size_t index) {
  TrialPlan plan{index, options.seed * 1'000'003 + index + 1, {}, {}};
  std::mt19937_64 generator(plan.seed);
  if (options.kind == TrialKind::slowed)
    plan.planted = slowdowns(options, metrics, index, generator);
  if (options.kind == TrialKind::faults) plan.planted = real_faults(metrics, index, generator);
  const bool plants = options.kind == TrialKind::slowed || options.kind == TrialKind::faults;
  if (plants && plan.planted.empty())
    throw Error(ExitCode::bad_input, "The victim has no metric that can have the fault.");
  if (options.kind == TrialKind::disturbed) {
    static constexpr const char* works[] = {"fma", "copy", "both"};
    plan.load = LoadPlan{options.patterns.at(index % options.patterns.size()),
                         works[generator() % std::size(works)]};
  }
  return plan;
}

std::string victim_flags(const std::vector<Planted>& planted) {
  std::map<std::string, std::vector<std::string>> lists;
  for (const Planted& one : planted)
    lists[one.fault].push_back(
        fmt::format("{}={}", one.metric, one.fault == "slow" ? 1 + one.size : one.size));
  std::string flags;
  for (const auto& [fault, items] : lists)
    flags += fmt::format(" --{} {}", fault, shell_quoted(fmt::format("{}", fmt::join(items, ","))));
  return flags;
}

}  // namespace fathom::gate
