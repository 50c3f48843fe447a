#include "results/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "models/published.h"
#include "results/program.h"
#include "results/statistics.h"

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

}  // namespace

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
