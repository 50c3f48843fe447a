#include "reports/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "reports/sections.h"
#include "results/error.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

using ByName = std::unordered_map<std::string, const Entry*>;

/// Repetitions of a case have one name.
std::string name_of(const Entry& entry) {
  return entry.repetition_index == 0
             ? entry.name
             : fmt::format("{} (repetition {})", entry.name, entry.repetition_index);
}

ByName by_name(const Document& document) {
  ByName entries;
  for (const Entry& entry : document.entries) entries.emplace(name_of(entry), &entry);
  return entries;
}

/// A figure as one document has it.
struct Side {
  std::string unit;
  Better better;
  std::optional<ComparedValue> value{};
  std::string problem{}, why{};  ///< what forbids comparing it
};

ComparedValue value_of(const Entry& entry, double value, const std::optional<Interval>& interval) {
  return {value, interval, entry.verdict.status == VerdictStatus::noisy,
          entry.repeatability.value_or(0)};
}

/// An entry's value is not compared where the gate would not use it either.
Side side_of(const Entry& entry) {
  Side side{entry.metric.unit, entry.metric.better};
  if (const auto value = entry.metric.value) side.value = value_of(entry, *value, entry.interval);
  const VerdictStatus status = entry.verdict.status;
  if (status == VerdictStatus::wrong_output || status == VerdictStatus::failed ||
      status == VerdictStatus::above_bound)
    side.problem = words(status);
  else if (!side.value)
    side.problem = "no value";
  return side;
}

/// A fact has no verdict: it is noisy as an entry with its interval would be, or where half of the
/// entries that it rests on are.
Side side_of(const Fact& fact, const ByName& entries) {
  Side side{fact.unit, fact.better};
  if (!fact.value) {
    side.problem = "no value";
    side.why = fmt::format(" ({})", fact.reason);
    return side;
  }
  ComparedValue& value = side.value.emplace(ComparedValue{*fact.value, fact.interval, false, 0});
  std::vector<double> rounds;
  std::size_t noisy = 0, found = 0;
  for (const std::string& name : fact.evidence) {
    const auto entry = entries.find(name);
    if (entry == entries.end()) continue;
    ++found;
    noisy += entry->second->verdict.status == VerdictStatus::noisy;
    if (entry->second->repeatability) rounds.push_back(*entry->second->repeatability);
  }
  const bool wide = fact.interval && !(fact.interval->high - fact.interval->low <=
                                       2 * noise_half_width * std::abs(*fact.value));
  value.noisy = wide || (fact.interval && noisy > 0 && 2 * noisy >= found);
  if (!rounds.empty()) value.rounds = median(rounds);
  return side;
}

bool finite(const ComparedValue& value) {
  return std::isfinite(value.value) && std::isfinite(value.rounds) &&
         (!value.interval ||
          (std::isfinite(value.interval->low) && std::isfinite(value.interval->high)));
}

/// The figure's ratio, size and outcome from its values.
void decide(ComparedFigure& figure) {
  if (!figure.reason.empty()) return;
  const ComparedValue &a = *figure.a, &b = *figure.b;
  if (!finite(a) || !finite(b)) {
    figure.reason = "a number that is not finite";
    return;
  }
  const double larger = std::max(std::abs(a.value), std::abs(b.value));
  const bool positive = a.value > 0 && b.value > 0;
  if (positive) figure.ratio = b.value / a.value;
  figure.size = positive     ? std::abs(std::log(*figure.ratio))
                : larger > 0 ? std::abs(b.value - a.value) / larger
                             : 0;
  if (!is_confident(a.interval) || !is_confident(b.interval)) {
    figure.outcome = a.value == b.value ? Outcome::same : Outcome::undecided;
    return;
  }
  const double margin = std::max({equal_runs, a.rounds, b.rounds});
  const Interval &of_a = *a.interval, &of_b = *b.interval;
  bool differs, same;
  if (positive && of_a.low > 0 && of_b.low > 0) {
    const Interval ratio = ratio_interval(of_b, of_a);
    figure.ratio_interval = ratio;
    // The reciprocal, so that A against B finds what B against A does.
    differs = ratio.low > 1 + margin || ratio.high < 1 / (1 + margin);
    same = ratio.low >= 1 / (1 + equal_runs) && ratio.high <= 1 + equal_runs;
  } else {
    differs = std::max(of_b.low - of_a.high, of_a.low - of_b.high) > margin * larger;
    same = std::max(of_b.high - of_a.low, of_a.high - of_b.low) <= equal_runs * larger;
  }
  figure.outcome = differs ? Outcome::differs : same ? Outcome::same : Outcome::within_noise;
}

/// Calls `both` for each pair of one name, and notes by kind what one side alone has.
template <typename Item, typename Name, typename Both>
void match(const std::vector<Item>& a, const std::vector<Item>& b, const char* kind,
           const char* kinds, Name name, Comparison& to, Both both) {
  std::map<std::string, std::size_t> places_a, places_b;  // by probe
  const auto only = [&](std::vector<OnlyHere>& side, auto& places, const Item& item) {
    const auto [place, is_new] = places.try_emplace(item.probe, side.size());
    if (is_new) side.push_back({item.probe, kind, kinds, {}});
    side[place->second].names.push_back(name(item));
  };
  std::unordered_map<std::string, const Item*> unmatched;
  for (const Item& item : b) unmatched.emplace(name(item), &item);
  for (const Item& item : a) {
    const auto found = unmatched.find(name(item));
    if (found == unmatched.end() || !found->second) {
      only(to.only_a, places_a, item);
    } else {
      both(item, *found->second);
      found->second = nullptr;
    }
  }
  for (const Item& item : b)
    if (unmatched.at(name(item))) only(to.only_b, places_b, item);
}

ComparedFigure figure_of(ComparedFigure::Kind kind, const std::string& name,
                         const std::string& title, const std::string& probe, const Side& a,
                         const Side& b) {
  ComparedFigure figure{kind, name, title, probe, a.unit, a.better, false, false, a.value, b.value};
  const auto shown = [](const std::string& unit) { return unit.empty() ? "no unit" : unit; };
  if (a.unit != b.unit)
    figure.reason = fmt::format("{} in A, {} in B", shown(a.unit), shown(b.unit));
  else if (a.better != b.better)
    figure.reason =
        fmt::format("{} is better in A, {} in B", to_string(a.better), to_string(b.better));
  for (const auto& [letter, side] : {std::pair{'A', &a}, {'B', &b}})
    if (!side->problem.empty())
      figure.reason = fmt::format("{} in {}{}", side->problem, letter, side->why);
  return figure;
}

void add_opponents(const Entry& a, const Entry& b, Comparison& to) {
  for (const Opponent& one : a.opponents) {
    const auto other = std::ranges::find(b.opponents, one.name, &Opponent::name);
    if (!one.ratio || other == b.opponents.end() || !other->ratio) continue;
    const std::string name = name_of(a) + " vs " + one.name;
    to.figures.push_back(
        figure_of(ComparedFigure::Kind::opponent_ratio, name, name, a.probe,
                  {"x", Better::higher, value_of(a, *one.ratio, one.ratio_interval)},
                  {"x", Better::higher, value_of(b, *other->ratio, other->ratio_interval)}));
  }
}

void add_entries(const Document& a, const Document& b, Comparison& to) {
  match(a.entries, b.entries, "entry", "entries", name_of, to,
        [&](const Entry& of_a, const Entry& of_b) {
          const std::string name = name_of(of_a);
          to.figures.push_back(figure_of(ComparedFigure::Kind::entry, name, name, of_a.probe,
                                         side_of(of_a), side_of(of_b)));
          if (to.figures.back().reason.empty()) add_opponents(of_a, of_b, to);
        });
}

void add_facts(const Document& a, const Document& b, const ByName& entries_a,
               const ByName& entries_b, Comparison& to) {
  std::set<std::string> told;
  const auto id = [](const Fact& fact) { return fact.id; };
  match(a.facts, b.facts, "fact", "facts", id, to, [&](const Fact& of_a, const Fact& of_b) {
    if (!of_a.value && !of_b.value) return;
    to.figures.push_back(figure_of(ComparedFigure::Kind::fact, of_a.id,
                                   of_a.subject + ": " + of_a.quantity, of_a.probe,
                                   side_of(of_a, entries_a), side_of(of_b, entries_b)));
    if (of_a.value && of_b.value && of_a.evidence.size() == 1) told.insert(of_a.evidence.front());
  });
  for (ComparedFigure& figure : to.figures) figure.in_fact = told.contains(figure.name);
}

void add_claims(const Document& a, const Document& b, Comparison& to) {
  const auto id = [](const Claim& claim) { return claim.id; };
  match(a.claims, b.claims, "claim", "claims", id, to, [&](const Claim& of_a, const Claim& of_b) {
    if (of_a.verdict == of_b.verdict)
      ++to.same_claims;
    else
      to.claims.push_back(
          {of_a.id + ": " + of_a.statement, words(of_a.verdict), words(of_b.verdict)});
  });
}

/// What `fathom run` prints of each probe, and what the levels of the memory hierarchy are known
/// for: in A, of what B has too.
void mark_headlines(const Document& a, const ByName& entries, Comparison& to) {
  std::set<std::string> headlines;
  for (const Fact* fact : level_facts(a))  // in cycles and bytes, and not in other units once more
    if (!fact->id.ends_with("_time") && !fact->id.ends_with("_per_clock"))
      headlines.insert(fact->id);
  std::map<std::string, EntryList> shared;
  for (const ComparedFigure& figure : to.figures)
    if (figure.kind == ComparedFigure::Kind::entry && figure.reason.empty())
      shared[figure.probe].push_back(entries.at(figure.name));
  for (const ProbeSummary& probe : probes_of(a))
    if (const Entry* entry = headline_entry(probe, shared[probe.name]))
      headlines.insert(name_of(*entry));
  for (ComparedFigure& figure : to.figures) figure.headline = headlines.contains(figure.name);
}

std::vector<MachineProperty> properties_of(const Document& document) {
  std::vector<MachineProperty> all = machine_properties(document.fingerprint);
  all.insert(all.end(), {{"CPUs of the host", std::to_string(document.num_cpus)},
                         {"Fathom", document.fathom_version},
                         {"Commit", document.fathom_commit.substr(0, 12)},
                         {"Google Benchmark", document.google_benchmark_version},
                         {"Seed", document.seed}});
  for (const DeviceBound& bound : document.bounds)
    all.push_back({"Bound: " + spaced(bound.name), format_quantity(bound.value, bound.unit)});
  return all;
}

void compare_machines(const Document& a, const Document& b, Comparison& to) {
  std::vector<MachineProperty> left = properties_of(a), right = properties_of(b);
  for (const MachineProperty& one : right)
    if (std::ranges::find(left, one.name, &MachineProperty::name) == left.end())
      left.push_back({one.name, ""});
  const auto shown = [](const std::string& text) { return text.empty() ? "unknown" : text; };
  for (const auto& [name, text] : left) {
    const auto found = std::ranges::find(right, name, &MachineProperty::name);
    const std::string other = found == right.end() ? "" : found->text;
    if (text == other)
      ++to.same_properties;
    else
      to.machine.push_back({name, shown(text), shown(other)});
  }
}

ComparedDocument described(const Document& document, const std::string& file) {
  const std::string& gpu = document.fingerprint.gpu_name;
  return {file,
          gpu.empty() ? "unnamed GPU" : gpu,
          document.suite,
          document.date,
          document.fathom_commit,
          document.source == Source::replay};
}

}  // namespace

Comparison compare(const Document& a, const Document& b, const std::string& file_a,
                   const std::string& file_b) {
  Comparison to{described(a, file_a), described(b, file_b), {}, 0, {}, {}, 0, {}, {}};
  const ByName entries_a = by_name(a), entries_b = by_name(b);
  add_entries(a, b, to);
  add_facts(a, b, entries_a, entries_b, to);
  if (to.figures.empty()) {
    const auto called = [](const std::string& file, const std::string& suite) {
      return suite.empty() ? file : fmt::format("{} (suite {})", file, quotable(suite));
    };
    throw Error(ExitCode::incomplete,
                fmt::format("{} and {} share no figure: compare runs of one suite.",
                            called(file_a, a.suite), called(file_b, b.suite)));
  }
  add_claims(a, b, to);
  mark_headlines(a, entries_a, to);
  compare_machines(a, b, to);
  for (ComparedFigure& figure : to.figures) decide(figure);
  std::ranges::stable_sort(to.figures, [](const ComparedFigure& x, const ComparedFigure& y) {
    const auto rank = [](const ComparedFigure& figure) {
      return std::tuple(figure.outcome, figure.noisy(), -figure.size);
    };
    return rank(x) < rank(y);
  });
  return to;
}

}  // namespace fathom::reports
