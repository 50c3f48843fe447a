#include "results/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/format.h"
#include "results/statistics.h"

namespace fathom {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// A figure for a sentence: its number and unit, or a text.
struct Shown {
  double value = nothing;
  std::string unit{};
  std::optional<std::string> text{};
  bool noisy = false;
  bool missing() const { return std::isnan(value) && !text; }
};

std::string shown_as(const Shown& shown, const std::string& format) {
  if (shown.text) return *shown.text;
  if (const std::size_t bar = format.find('|'); bar != std::string::npos)
    return shown.value != 0 ? format.substr(0, bar) : format.substr(bar + 1);
  return (shown.noisy ? "~" : "") +
         (format == "%"    ? format_percent(shown.value)
          : format == ","  ? format_count(shown.value)
          : format.empty() ? format_quantity(shown.value, shown.unit)
                           : fmt::format(fmt::runtime("{:" + format + "}"), shown.value));
}

/// Replaces what stands in braces, and drops what stands in brackets around a missing figure.
std::string told(const std::string& sentence, const std::function<Shown(const std::string&)>& find,
                 bool* any) {
  std::string text, part;
  bool optional = false, lacks = false;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    if (sentence[i] == '[') {
      text += std::exchange(part, "");
      optional = true;
      lacks = false;
    } else if (sentence[i] == ']') {
      if (!lacks) text += part;
      part.clear();
      optional = false;
    } else if (sentence[i] == '{') {
      const std::size_t end = sentence.find('}', i);
      const std::string inside = sentence.substr(i + 1, end - i - 1);
      const std::size_t colon = inside.rfind(':');
      const Shown shown = find(inside.substr(0, colon));
      const bool missing = shown.missing();
      lacks = lacks || missing;
      if (any != nullptr && !missing) *any = true;
      part += missing ? "(not measured)"
                      : shown_as(shown, colon == std::string::npos ? "" : inside.substr(colon + 1));
      i = end;
    } else {
      part += sentence[i];
    }
  }
  return optional && lacks ? text : text + part;
}

/// Without the "; " of a part whose parts before were left out.
std::string first_part(const std::string& sentence) {
  return sentence.starts_with("; ") ? sentence.substr(2) : sentence;
}

std::vector<const Entry*> chosen(std::span<const Entry> entries, const AxisFilter& where,
                                 const std::function<bool(const Entry&)>& only) {
  std::vector<const Entry*> found = select(entries, where);
  if (only) std::erase_if(found, [&](const Entry* entry) { return !only(*entry); });
  return found;
}

const Entry* picked(const std::vector<const Entry*>& entries, Pick pick, const Figure& figure) {
  if (pick == Pick::best) return best(entries);
  const Entry* found = nullptr;
  double known = nothing;
  for (const Entry* entry : entries) {
    const double value = figure(*entry);
    if (std::isnan(value)) continue;
    if (found == nullptr || pick == Pick::last || (pick == Pick::least && value < known) ||
        (pick == Pick::most && value > known)) {
      found = entry;
      known = value;
    }
  }
  return found;
}

bool is_noisy(const Entry& entry) { return entry.verdict.status == VerdictStatus::noisy; }

bool holds(const FigureRange& check, double value) {
  return value >= check.least && value <= check.most;
}

/// The median of a row's figures over all entries that have one.
Fact median_fact(const FactRow& row, const std::vector<const Entry*>& entries) {
  Fact fact = named_fact(row.name);
  std::vector<double> values;
  for (const Entry* entry : entries) {
    const double value = row.figure(*entry);
    if (std::isnan(value)) continue;
    values.push_back(value);
    fact.evidence.push_back(entry->name);
    fact.repeats += static_cast<int>(entry->samples.size());
    if (entry->bound && (!fact.bound || entry->bound->value > fact.bound->value))
      fact.bound = entry->bound;
  }
  fact.value = median(values);
  fact.interval = median_interval(values);
  const auto range = std::ranges::minmax(values);
  fact.method = told(
      row.method,
      [&](const std::string& name) -> Shown {
        if (name == "measured") return {static_cast<double>(values.size())};
        return {name == "low" ? range.min : range.max, fact.unit};
      },
      nullptr);
  return fact;
}

}  // namespace

Figures::Figures(const Reading& reading, std::span<const Entry> entries) {
  for (const Quantity& q : reading.quantities) {
    const std::vector<const Entry*> found = chosen(entries, q.where, q.only);
    Known& known = known_[q.name];
    known.unit = q.unit;
    if (q.pick == Pick::sum || q.pick == Pick::count) {
      for (const Entry* entry : found) {
        const double value = q.figure(*entry);
        if (std::isnan(value)) continue;
        if (std::isnan(known.value)) known.value = 0;
        known.value += q.pick == Pick::count ? 1 : value;
        entries_.push_back(entry);
      }
    } else if (const Entry* entry = picked(found, q.pick, q.figure)) {
      known.value = q.figure(*entry);
      known.entry = entry;
      if (q.unit.empty() && known.value == metric_of(*entry)) known.unit = entry->metric.unit;
      entries_.push_back(entry);
    }
    if (!std::isnan(known.value) || !reason_.empty()) continue;
    for (const Entry* entry : found) {
      for (const Counter& c : entry->counters)
        if (reason_.empty() && !c.value && !c.reason.empty() && std::isnan(q.figure(*entry)))
          reason_ = c.reason;
    }
  }
  for (const Formula& formula : reading.formulas)
    known_[formula.name] = {formula.value(*this), formula.unit};
}

double Figures::operator[](const std::string& name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? nothing : found->second.value;
}

const Entry* Figures::entry(const std::string& name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? nullptr : found->second.entry;
}

std::vector<std::string> Figures::evidence() const {
  std::vector<std::string> names;
  for (const Entry* entry : entries_)
    if (std::ranges::find(names, entry->name) == names.end()) names.push_back(entry->name);
  return names;
}

std::string Figures::tell(const std::string& sentence, bool* any, bool mark_noisy) const {
  return told(
      sentence,
      [&](const std::string& name) -> Shown {
        if (const auto found = known_.find(name); found != known_.end()) {
          const Known& known = found->second;
          return {known.value,
                  known.unit,
                  {},
                  mark_noisy && known.entry != nullptr && is_noisy(*known.entry)};
        }
        // "<quantity> <axis>": what its entry has there; "<quantity> opponent": who that is.
        for (const auto& [quantity, known] : known_) {
          if (known.entry == nullptr || !name.starts_with(quantity + " ")) continue;
          const std::string axis_name = name.substr(quantity.size() + 1);
          if (const AxisValue* value = find_axis(*known.entry, axis_name))
            return {nothing, "", format_axis_value(axis_name, *value)};
          if (axis_name == "opponent") return {nothing, "", fastest_opponent(*known.entry)->name};
        }
        return {};
      },
      any);
}

std::string Figures::why_missing() const { return reason_; }

Claim evaluate(const ClaimRow& row, std::span<const Entry> entries) {
  const Figures figures(row.reading, entries);
  Claim claim = make_claim(row.id, row.statement, row.claimed);
  claim.author = row.source.author;
  claim.gpu = row.source.gpu;
  bool any = false;
  const std::string sentence = figures.tell(row.sentence, &any, false);
  if (any) {
    claim.figure = first_part(sentence);
    claim.evidence = figures.evidence();
  }
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
  const std::string why = !figures.why_missing().empty() ? figures.why_missing()
                          : !row.missing.empty()         ? row.missing
                                                         : left_out;
  if (any && !applies) {
    claim.verdict = ClaimVerdict::does_not_apply;
    claim.figure += (claim.figure.empty() ? "" : ": ") + figures.tell(row.unmet, nullptr, false);
  } else if (refuted) {
    claim.verdict = ClaimVerdict::refuted;
  } else if (in_part) {
    claim.verdict = ClaimVerdict::conditional;
  } else if (missing > 0 && !(row.rule == Rule::those_measured && held > 0)) {
    claim.figure = why + (claim.figure.empty() ? "" : "; ") + claim.figure;
  } else if (held > 0) {
    claim.verdict = ClaimVerdict::confirmed;
  }
  return claim;
}

Fact named_fact(FactName name) {
  Fact fact;
  fact.id = std::move(name.id);
  fact.subject = std::move(name.subject);
  fact.quantity = std::move(name.quantity);
  fact.unit = std::move(name.unit);
  fact.better = name.better;
  return fact;
}

Fact fact_of(const Entry& entry, FactName name, std::string method) {
  if (name.unit.empty()) {
    name.unit = entry.metric.unit;
    name.better = entry.metric.better;
  }
  Fact fact = named_fact(std::move(name));
  fact.value = entry.metric.value;
  fact.interval = entry.interval;
  fact.method = std::move(method);
  fact.repeats = static_cast<int>(entry.samples.size());
  fact.evidence = {entry.name};
  fact.bound = entry.bound;
  fact.counters = entry.counters;
  return fact;
}

Fact missing_fact(FactName name, std::string reason) {
  Fact fact = named_fact(std::move(name));
  fact.reason = std::move(reason);
  return fact;
}
std::string why_missing(const Entry* entry, std::string absent) {
  if (entry == nullptr) return absent;
  return entry->verdict.reasons.empty() ? "the case gave no value" : entry->verdict.reasons.front();
}

Fact unmeasured(const Fact& fact, std::string reason) {
  return missing_fact({fact.id, fact.subject, fact.quantity, fact.unit, fact.better},
                      std::move(reason));
}

Fact evaluate(const FactRow& row, std::span<const Entry> entries) {
  const std::vector<const Entry*> found = chosen(entries, row.where, row.only);
  std::vector<const Entry*> measured = found;
  std::erase_if(measured, [](const Entry* entry) { return !entry->metric.value; });
  const Entry* entry = picked(measured, row.pick, row.figure);
  if (entry == nullptr)
    return missing_fact(row.name, why_missing(found.empty() ? nullptr : found.front(), row.absent));
  if (row.pick == Pick::median) return median_fact(row, measured);
  const auto named = [&](const std::string& name) -> Shown {
    if (name == "cases" || (name == "rivals" && found.size() > 1))
      return {static_cast<double>(found.size())};
    if (name == "rivals") return {};
    if (name == "timer") return {nothing, "", entry->timing.timer};
    const AxisValue* value = find_axis(*entry, name);
    return {nothing, "", value == nullptr ? "?" : format_axis_value(name, *value)};
  };
  Fact fact = fact_of(*entry, row.name, told(row.method, named, nullptr));
  if (row.change) row.change(fact, *entry);
  return fact;
}

std::string answer_from(const std::vector<Fact>& facts, std::span<const Entry> entries,
                        const std::string& sentence) {
  if (std::ranges::none_of(facts, [](const Fact& f) { return f.value.has_value(); })) return "";
  return told(
      sentence,
      [&](const std::string& id) -> Shown {
        const auto fact = std::ranges::find(facts, id, &Fact::id);
        if (fact == facts.end() || !fact->value) return {};
        const bool noisy = std::ranges::any_of(entries, [&](const Entry& entry) {
          return is_noisy(entry) &&
                 std::ranges::find(fact->evidence, entry.name) != fact->evidence.end();
        });
        return {*fact->value, fact->unit, {}, noisy};
      },
      nullptr);
}

void scale(Fact& fact, double factor) {
  *fact.value *= factor;
  if (!fact.interval) return;
  fact.interval->low *= factor;
  fact.interval->high *= factor;
}

Findings evaluate(const Conclusions& rows, std::span<const Entry> entries) {
  Findings findings;
  for (const ClaimRow& row : rows.claims) findings.claims.push_back(evaluate(row, entries));
  for (const FactRow& row : rows.facts) findings.facts.push_back(evaluate(row, entries));
  for (const auto part : rows.more_facts)
    for (Fact& fact : part(entries)) findings.facts.push_back(std::move(fact));
  findings.views = rows.views;
  if (!findings.facts.empty()) {
    findings.answer = answer_from(findings.facts, entries, rows.answer);
  } else if (!rows.answer.empty()) {
    bool any = false;
    const std::string answer = Figures(rows.reading, entries).tell(rows.answer, &any);
    if (any) findings.answer = first_part(answer);
  }
  return findings;
}

}  // namespace fathom
