#include "results/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <utility>

#include "models/published.h"
#include "results/files.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom {
namespace {

bool holds(const FigureRange& check, double value) {
  return value >= check.least && value <= check.most;
}

/// Others' stay where they are, so that a document's order remains that of its probes.
template <class Finding>
void replace_findings_of(const std::string& probe, std::vector<Finding>& all,
                         std::vector<Finding> found) {
  for (Finding& finding : found) finding.probe = probe;
  const auto first = std::ranges::find(all, probe, &Finding::probe);
  const auto place = first - all.begin();
  std::erase_if(all, [&](const Finding& finding) { return finding.probe == probe; });
  all.insert(all.begin() + place, std::make_move_iterator(found.begin()),
             std::make_move_iterator(found.end()));
}

/// A clock whose readings differ by more than this, relative to the highest, has moved: NVIDIA GPUs
/// set clocks in steps of 15 MHz, and one step is no finding.
constexpr double clock_moved = 0.01;

/// Resolution of CUDA's event timer, in seconds (the runtime's documentation of
/// cudaEventElapsedTime says around half a microsecond).
constexpr double event_resolution_s = 0.5e-6;

/// A value and the one that it should be, in `unit`. Exact figures are shown in full: four digits
/// would not show the difference.
std::pair<std::string, std::string> shown_pair(double value, double expected,
                                               const std::string& unit, double tolerance) {
  std::pair<std::string, std::string> pair{format_quantity(value, unit),
                                           format_quantity(expected, unit)};
  if (tolerance == 0 || pair.first == pair.second)
    pair = {fmt::format("{} {}", format_exact(value), unit),
            fmt::format("{} {}", format_exact(expected), unit)};
  return pair;
}

/// "<value>, <words> <expected> (<model>): off by 3.1 %, 2 % allowed" where they differ by more
/// than the tolerance, else empty; the difference itself where there is nothing to divide by.
std::string difference(double value, double expected, double tolerance, const std::string& unit,
                       const char* words, const std::string& model) {
  if (value == expected ||
      (tolerance != 0 && std::abs(value - expected) <= tolerance * std::abs(expected)))
    return "";
  const auto [shown, shown_expected] = shown_pair(value, expected, unit, tolerance);
  return fmt::format(
      "{}, {} {} ({}): off by {}, {}", shown, words, shown_expected, model,
      expected == 0 ? format_number(value) : format_percent(std::abs(value / expected - 1)),
      tolerance == 0 ? "they must be equal" : format_percent(tolerance) + " allowed");
}

/// What clocks, the GPU's own throttle reasons and the way of sampling say of noise.
std::string noise_causes(const Entry& entry) {
  const Telemetry& telemetry = entry.telemetry;
  std::vector<std::string> causes;
  for (const auto& [clock, range] :
       {std::pair{"SM", &telemetry.sm_clock_hz}, {"memory", &telemetry.memory_clock_hz}})
    if (range->low && range->high && *range->high - *range->low > clock_moved * *range->high)
      causes.push_back(fmt::format("the {} clock moved between {} and {}", clock,
                                   format_quantity(*range->low, "Hz"),
                                   format_quantity(*range->high, "Hz")));
  for (const std::string& reason : telemetry.throttle_reasons) {
    const char* who = reason == "sw_power_cap"               ? "power limit"
                      : reason == "hw_power_brake"           ? "power supply"
                      : reason.ends_with("thermal_slowdown") ? "temperature"
                                                             : nullptr;
    if (who != nullptr)
      causes.push_back(fmt::format("the {} held the clock down ({})", who, reason));
    // Set whenever clocks follow the application clock, at its default too.
    else if (reason != "applications_clocks_setting")
      causes.push_back(fmt::format("throttle reason {}", reason));
  }
  if (!entry.timing.stop.empty() && entry.timing.stop != "converged")
    causes.push_back(fmt::format("sampling stopped at its {} with {} samples", entry.timing.stop,
                                 entry.samples.size()));
  const double sample_s = entry.real_time_s * entry.timing.launches_per_sample;
  if (entry.timing.timer == "cudaEvent" && sample_s > 0 &&
      event_resolution_s > noise_half_width * sample_s)
    causes.push_back(fmt::format("a sample of {} is close to the event timer's resolution of {}",
                                 format_time(sample_s), format_time(event_resolution_s)));
  if (!telemetry.missing_reason.empty())
    causes.push_back(fmt::format("clocks are unknown: {}", telemetry.missing_reason));
  if (causes.empty()) return "no cause seen in clocks or throttle reasons";
  return fmt::format("{}", fmt::join(causes, "; "));
}

/// The checks come worst first, so that the first finding's status is the worst.
void add(VerdictStatus status, std::string reason, Verdict& to) {
  if (to.reasons.empty()) to.status = status;
  to.reasons.push_back(std::move(reason));
}

void check_bound(const Entry& entry, Verdict& to) {
  const Metric& metric = entry.metric;
  if (!entry.bound || !metric.value) return;
  const double bound = entry.bound->value;
  if (metric.better == Better::higher ? *metric.value <= bound : *metric.value >= bound) return;
  const auto [value, limit] = shown_pair(*metric.value, bound, metric.unit, 1);
  add(VerdictStatus::above_bound,
      fmt::format("{} of {} is better than the bound of {} ({}): one of the two is wrong.",
                  metric.name, value, limit, entry.bound->source),
      to);
}

void check_counters(const Entry& entry, Verdict& to) {
  std::map<std::string, std::vector<std::string>> missing;  // by reason
  for (const Counter& c : entry.counters) {
    if (!c.expected || c.tolerance >= shown_alone) continue;
    if (!c.value) {
      missing[c.reason.empty() ? "no value" : c.reason].push_back(c.role);
      continue;
    }
    const std::string found =
        difference(*c.value, *c.expected, c.tolerance, c.unit, "expected", c.expected_model);
    if (!found.empty())
      add(VerdictStatus::counter_mismatch, fmt::format("counter {} reads {}.", c.role, found), to);
  }
  for (const auto& [reason, roles] : missing)
    to.unchecked.push_back(fmt::format("not compared with what is expected: {} ({}).",
                                       fmt::join(roles, ", "), reason));
}

void check_expectation(const Entry& entry, Verdict& to) {
  const Metric& metric = entry.metric;
  if (!entry.expected || !metric.value) return;
  const Expectation& model = *entry.expected;
  const std::string found = difference(*metric.value, model.value, model.tolerance, metric.unit,
                                       "the model says", model.model);
  if (!found.empty())
    add(VerdictStatus::unexpected, fmt::format("{} is {}.", metric.name, found), to);
}

void check_noise(const Entry& entry, Verdict& to) {
  if (!entry.metric.value) return;
  std::vector<std::string> signs;
  if (!entry.interval) {
    to.unchecked.push_back("there is no interval of the median to judge noise by.");
  } else {
    const double half = (entry.interval->high - entry.interval->low) / 2;
    if (!(half <= noise_half_width * std::abs(*entry.metric.value)))
      signs.push_back(fmt::format("the median is known to {} only ({} allowed)",
                                  format_percent(std::abs(half / *entry.metric.value)),
                                  format_percent(noise_half_width)));
  }
  if (entry.repeatability && !(*entry.repeatability <= noise_repeatability))
    signs.push_back(fmt::format("rounds differ by {} ({} allowed)",
                                format_percent(*entry.repeatability),
                                format_percent(noise_repeatability)));
  if (!signs.empty())
    add(VerdictStatus::noisy,
        fmt::format("noisy: {}; {}.", fmt::join(signs, ", "), noise_causes(entry)), to);
}

}  // namespace

void judge_entry(Entry& entry) {
  if (entry.verdict.status >= VerdictStatus::wrong_output) return;
  entry.verdict = {};
  if (!entry.metric.value && (entry.bound || entry.expected))
    entry.verdict.unchecked.push_back(
        fmt::format("{} has no value to hold against its bound or model.", entry.metric.name));
  for (const auto check : {check_bound, check_counters, check_expectation, check_noise})
    check(entry, entry.verdict);
}

Claim evaluate(const ClaimRow& row, std::span<const Entry> entries) {
  const Figures figures(row.reading, entries);
  Claim claim{row.id, row.statement,     row.claimed,   ClaimVerdict::not_measured, "", {},
              "",     row.source.author, row.source.gpu};
  claim.figure = figures.tell(row.sentence, false);
  const bool any = !claim.figure.empty();
  int held = 0, failed = 0, missing = 0;
  for (const FigureRange& check : row.checks) {
    const double value = figures[check.quantity];
    ++(std::isnan(value) ? missing : holds(check, value) ? held : failed);
  }
  bool refuted = failed > 0, in_part = failed > 0 && held > 0;
  if (row.rule == Rule::cases) refuted = failed > 0 && held == 0 && missing == 0;
  if (row.rule == Rule::effect) {
    const double effect = figures[row.checks.front().quantity];
    in_part = failed > 0 && holds(row.checks.front(), effect);
    refuted = !std::isnan(effect) && !holds(row.checks.front(), effect);
  }
  const bool applies = std::ranges::all_of(row.premise, [&](const FigureRange& check) {
    const double value = figures[check.quantity];
    missing += std::isnan(value) ? 1 : 0;
    return std::isnan(value) || holds(check, value);
  });
  if (any && !applies) {
    claim.verdict = ClaimVerdict::does_not_apply;
    claim.figure += ": " + figures.tell(row.unmet, false);
  } else if (refuted) {
    claim.verdict = ClaimVerdict::refuted;
  } else if (in_part) {
    claim.verdict = ClaimVerdict::conditional;
  } else if (missing > 0 && !(row.rule == Rule::those_measured && held > 0)) {
    const std::string& counted = figures.why_missing();
    claim.figure = (counted.empty() ? row.missing : counted) + (any ? "; " : "") + claim.figure;
  } else if (held > 0) {
    claim.verdict = ClaimVerdict::confirmed;
  }
  if (any || claim.verdict != ClaimVerdict::not_measured) claim.evidence = figures.evidence();
  return claim;
}

Fact unmeasured(const Fact& fact, std::string reason) {
  Fact missing{fact.id, fact.subject, fact.quantity, fact.unit, fact.better};
  missing.reason = std::move(reason);
  return missing;
}

std::string why_missing(const Entry* entry, std::string absent) {
  if (entry == nullptr) return absent;
  return entry->verdict.reasons.empty() ? "the case gave no value" : entry->verdict.reasons.front();
}

void scale(Fact& fact, double factor) {
  *fact.value *= factor;
  if (!fact.interval) return;
  fact.interval->low *= factor;
  fact.interval->high *= factor;
}

Fact evaluate(const FactRow& row, std::span<const Entry> entries) {
  const auto measured = [&](const Entry& e) {
    return is_measured(e) && (!row.only || row.only(e));
  };
  const Figure one = [](const Entry&) { return 1; };
  const bool of_several = row.pick == Pick::median;
  const std::string& unit = row.name.unit;
  const Quantities reading{
      {"any", row.where, Pick::first, one, "", row.only},
      {"tried", row.where, Pick::count, one, "", row.only},
      {"", row.where, of_several ? Pick::first : row.pick, row.figure, "", measured},
      {"measured", row.where, Pick::count, row.figure, "", measured},
      {"low", row.where, Pick::least, row.figure, unit, measured},
      {"high", row.where, Pick::most, row.figure, unit, measured},
      formula("rivals",
              [](const Figures& f) { return f["tried"] > 1 ? f["tried"] : std::nan(""); })};
  const Figures figures(reading, entries);
  const Entry* entry = figures.entry("");
  if (entry == nullptr) return unmeasured(row.name, why_missing(figures.entry("any"), row.absent));
  Fact fact = row.name;
  fact.method = figures.tell(row.method, false);
  if (of_several) {
    std::vector<double> values;
    for (const Entry* each : select(entries, row.where)) {
      const double value = measured(*each) ? row.figure(*each) : std::nan("");
      if (std::isnan(value)) continue;
      values.push_back(value);
      fact.evidence.push_back(each->name);
      fact.repeats += static_cast<int>(each->samples.size());
      if (each->bound && (!fact.bound || each->bound->value > fact.bound->value))
        fact.bound = each->bound;
    }
    fact.value = median(values);
    fact.interval = median_interval(values);
    return fact;
  }
  if (fact.unit.empty()) {
    fact.unit = entry->metric.unit;
    fact.better = entry->metric.better;
  }
  fact.value = entry->metric.value;
  fact.interval = entry->interval;
  fact.repeats = static_cast<int>(entry->samples.size());
  fact.evidence = {entry->name};
  fact.bound = entry->bound;
  fact.counters = entry->counters;
  if (row.change) row.change(fact, *entry);
  return fact;
}

Findings evaluate(const Conclusions& rows, std::span<const Entry> entries) {
  Findings findings;
  for (const ClaimRow& row : rows.claims) findings.claims.push_back(evaluate(row, entries));
  for (const FactRow& row : rows.facts) findings.facts.push_back(evaluate(row, entries));
  for (const auto part : rows.more_facts)
    std::ranges::move(part(entries), std::back_inserter(findings.facts));
  findings.views = rows.views;
  findings.answer = Figures(rows.reading, entries, findings.facts).tell(rows.answer);
  return findings;
}

void put_findings(const std::string& probe, const Conclude& conclude, Document& document) {
  std::vector<Entry> entries;
  std::ranges::copy_if(document.entries, std::back_inserter(entries),
                       [&](const Entry& entry) { return entry.probe == probe; });
  Findings findings = conclude(entries);
  ProbeSummary& summary = *std::ranges::find(document.probes, probe, &ProbeSummary::name);
  summary.answer = std::move(findings.answer);
  summary.views = std::move(findings.views);
  summary.page = std::move(findings.page);
  summary.page_title = std::move(findings.page_title);
  // What others published of a fact on the nearest chip is found by its id and unit, so that no
  // probe needs to know of publications. A fact that has a published figure from its probe keeps
  // it, and one without a value gets it too: it says what was missed.
  const Fingerprint& gpu = document.fingerprint;
  int major = 0, minor = 0;
  const bool known = std::sscanf(gpu.compute_capability.c_str(), "%d.%d", &major, &minor) == 2;
  for (Fact& fact : findings.facts) {
    if (!known || fact.published) continue;
    const auto figures = models::find_published(fact.id, fact.unit, major, minor, gpu.gpu_name);
    if (!figures.empty())
      fact.published =
          Published{figures.front()->value, models::cited(*figures.front(), gpu.gpu_name)};
  }
  replace_findings_of(probe, document.claims, std::move(findings.claims));
  replace_findings_of(probe, document.facts, std::move(findings.facts));
}

void conclude_again(Document& document, Conclude conclusion_of(std::string_view probe)) {
  std::vector<std::string> probes;
  for (const ProbeSummary& probe : document.probes) probes.push_back(probe.name);
  std::erase_if(probes, [&](const std::string& probe) { return !conclusion_of(probe); });
  if (probes.empty()) return;
  for (const std::string& probe : probes) put_findings(probe, conclusion_of(probe), document);
  const char* again = "conclusions by fathom ";
  std::erase_if(document.notes,
                [&](const std::string& note) { return note.find(again) != note.npos; });
  document.notes.push_back(fmt::format("{}: measured by fathom {} ({}), {}{} ({}).",
                                       fmt::join(probes, ", "), document.fathom_version,
                                       document.fathom_commit, again, version(), commit()));
}

View plot(std::string title, Where where, std::string x, std::string y_label,
          std::vector<std::string> series, const PlotStyle& style, std::string note) {
  return {.kind = View::Kind::plot,
          .title = std::move(title),
          .note = std::move(note),
          .where = std::move(where),
          .overview = style.overview,
          .x = x,
          .x_label = style.x_label.empty() ? x : style.x_label,
          .y = style.y,
          .y_label = std::move(y_label),
          .x_log2 = style.x_log2,
          .y_log = style.y_log,
          .y_from_zero = !style.y_log,
          .series = std::move(series),
          .show_bound = style.bound,
          .show_expected = style.expected};
}

View table(std::string title, Where where, std::vector<std::string> columns, std::string note) {
  return {.title = std::move(title),
          .note = std::move(note),
          .where = std::move(where),
          .columns = std::move(columns)};
}

}  // namespace fathom
