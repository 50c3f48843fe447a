#include "results/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "results/format.h"
#include "results/statistics.h"

namespace fathom {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

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

}  // namespace

std::string same_speed_sentence() {
  return fmt::format("Two speeds count as the same where the slower has at least {} of the faster.",
                     format_percent(same_speed));
}

double metric_of(const Entry& entry) { return entry.metric.value.value_or(nothing); }
bool is_measured(const Entry& entry) { return entry.metric.value.has_value(); }
double ratio_to_opponents(const Entry& entry) {
  double least = nothing;
  for (const Opponent& opponent : entry.opponents)
    if (opponent.ratio && !(*opponent.ratio >= least)) least = *opponent.ratio;
  return least;
}
double fastest_opponent_of(const Entry& entry) {
  const Opponent* fastest = fastest_opponent(entry);
  return fastest == nullptr ? nothing : *fastest->value;
}
Figure counter_of(std::string role) {
  return [role](const Entry& entry) { return counter_value(entry, role).value_or(nothing); };
}
Figure extra_of(std::string name) {
  return [name](const Entry& entry) {
    const auto found = entry.extras.find(name);
    return found == entry.extras.end() ? nothing : found->second;
  };
}
Figure axis_of(std::string name) {
  return [name](const Entry& entry) { return number_of(find_axis(entry, name)); };
}

bool is_any(const Entry& entry, const char* axis, const std::vector<const char*>& values) {
  return std::ranges::any_of(values, [&](const char* value) {
    return matches(entry, {{axis, std::string(value)}});
  });
}

Quantity formula(std::string name, std::function<double(const Figures&)> value, std::string unit) {
  return {.name = std::move(name), .unit = std::move(unit), .formula = std::move(value)};
}

Figures::Figures(const Reading& reading, std::span<const Entry> entries,
                 const std::vector<Fact>& facts) {
  for (const Quantity& quantity : reading) known_[quantity.name] = read(quantity, entries);
  const bool measured =
      std::ranges::any_of(facts, [](const Fact& fact) { return fact.value.has_value(); });
  std::set<std::string> noisy;
  for (const Entry& entry : entries)
    if (measured && is_noisy(entry)) noisy.insert(entry.name);
  for (const Fact& fact : facts) {
    const auto is_of_noisy = [&](const std::string& name) { return noisy.contains(name); };
    known_[fact.id] = {fact.value.value_or(nothing), fact.unit, "",
                       std::ranges::any_of(fact.evidence, is_of_noisy)};
    if (measured) known_[fact.id + " reason"].text = fact.reason;
  }
}

Figures::Known Figures::read(const Quantity& q, std::span<const Entry> entries) {
  if (q.formula) return {q.formula(*this), q.unit};
  std::vector<const Entry*> found = select(entries, q.where);
  if (q.only) std::erase_if(found, [&](const Entry* entry) { return !q.only(*entry); });
  Known known{.unit = q.unit};
  const auto rest_on = [&](const Entry& entry) {
    if (std::ranges::find(evidence_, entry.name) == evidence_.end())
      evidence_.push_back(entry.name);
  };
  if (q.pick == Pick::sum || q.pick == Pick::count) {
    for (const Entry* entry : found) {
      const double value = q.figure(*entry);
      if (std::isnan(value)) continue;
      known.value = (std::isnan(known.value) ? 0 : known.value) + (q.pick == Pick::sum ? value : 1);
      rest_on(*entry);
    }
  } else if (const Entry* entry = picked(found, q.pick, q.figure)) {
    known.value = q.figure(*entry);
    known.entry = entry;
    known.noisy = is_noisy(*entry);
    if (q.unit.empty() && known.value == metric_of(*entry)) known.unit = entry->metric.unit;
    rest_on(*entry);
  }
  for (const Entry* entry : found)
    for (const Counter& c : entry->counters)
      if (std::isnan(known.value) && reason_.empty() && !c.value && std::isnan(q.figure(*entry)))
        reason_ = c.reason;
  return known;
}

Figures::Known Figures::find(const std::string& name) const {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos)
    return {find(name.substr(0, slash)).value / find(name.substr(slash + 1)).value};
  for (const auto& [quantity, known] : known_) {
    const std::string of = quantity.empty() ? "" : quantity + " ";
    if (known.entry == nullptr || !name.starts_with(of)) continue;
    const Known figure = figure_of(*known.entry, name.substr(of.size()));
    if (!std::isnan(figure.value) || !figure.text.empty()) return figure;
  }
  return {};
}

Figures::Known Figures::figure_of(const Entry& entry, const std::string& name) const {
  if (const AxisValue* axis = find_axis(entry, name))
    return {number_of(axis), "", format_axis_value(name, *axis)};
  if (const Counter* counter = find_counter(entry, name)) {
    if (!counter->value && reason_.empty()) reason_ = counter->reason;
    return {counter->value.value_or(nothing), "", "", is_noisy(entry)};
  }
  if (name == "opponent" && fastest_opponent(entry) != nullptr)
    return {nothing, "", fastest_opponent(entry)->name};
  if (name == "timer") return {nothing, "", entry.timing.timer};
  const double value = name == "opponent's" ? fastest_opponent_of(entry)
                       : name == "bound"    ? entry.bound ? entry.bound->value : nothing
                       : name == "ratio"    ? ratio_to_opponents(entry)
                                            : extra_of(name)(entry);
  return {value, name == "opponent's" ? entry.metric.unit : "", "", is_noisy(entry)};
}

double Figures::operator[](const std::string& name) const { return find(name).value; }

std::pair<double, double> Figures::range(const std::vector<std::string>& names) const {
  std::vector<double> values;
  for (const std::string& name : names) values.push_back((*this)[name]);
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); }))
    return {nothing, nothing};
  const auto [least, most] = std::ranges::minmax(values);
  return {least, most};
}

const Entry* Figures::entry(const std::string& quantity) const { return find(quantity).entry; }

std::optional<std::string> Figures::Known::shown(const std::string& format, bool mark) const {
  if (!text.empty() && format.empty()) return text;
  if (std::isnan(value)) return std::nullopt;
  if (const std::size_t bar = format.find('|'); bar != std::string::npos)
    return value != 0 ? format.substr(0, bar) : format.substr(bar + 1);
  const std::string sign = mark && noisy ? "~" : "";
  if (format.empty()) return sign + format_quantity(value, unit);
  if (format == "%") return sign + format_percent(value);
  if (format == ",") return sign + format_count(value);
  if (format.ends_with('%'))
    return sign + fmt::format(fmt::runtime("{:" + format.substr(0, format.size() - 1) + "} %"),
                              100 * value);
  return sign + fmt::format(fmt::runtime("{:" + format + "}"), value);
}

std::string Figures::tell(const std::string& sentence, bool mark_noisy) const {
  std::string text, part;
  bool optional = false, lacks = false, asked = false, any = false;
  for (std::size_t i = 0; i <= sentence.size(); ++i) {
    const char c = i < sentence.size() ? sentence[i] : ']';
    if (c == '[' || c == ']') {
      if (!(optional && lacks)) text += part;
      part.clear();
      optional = c == '[';
      lacks = false;
    } else if (c == '{') {
      const std::size_t end = sentence.find('}', i);
      const std::string inside = sentence.substr(i + 1, end - i - 1);
      const std::size_t colon = std::min(inside.rfind(':'), inside.size());
      const std::string format = colon < inside.size() ? inside.substr(colon + 1) : "";
      const auto words = find(inside.substr(0, colon)).shown(format, mark_noisy);
      asked = true;
      any = any || words;
      lacks = lacks || !words;
      part += words.value_or("(not measured)");
      i = end;
    } else {
      part += c;
    }
  }
  if (asked && !any) return "";
  return text.starts_with("; ") ? text.substr(2) : text;  // without the parts before it
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
  const Reading reading{
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

}  // namespace fathom
