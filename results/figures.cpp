#include "results/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "results/statistics.h"
#include "results/text.h"

namespace fathom {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

const Entry* picked(const std::vector<const Entry*>& entries, Pick pick, const Figure& figure) {
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

}  // namespace

const AxisValue* find_axis(const Entry& entry, const std::string& name) {
  const auto found = std::ranges::find(entry.axes, name, &Axes::value_type::first);
  return found == entry.axes.end() ? nullptr : &found->second;
}

double number_of(const AxisValue* value) {
  if (value == nullptr) return nothing;
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(value);
  return real == nullptr ? nothing : *real;
}

bool matches(const Entry& entry, const AxisFilter& filter) {
  return std::ranges::all_of(filter, [&](const auto& wanted) {
    const AxisValue* value = find_axis(entry, wanted.first);
    return value != nullptr && *value == wanted.second;
  });
}

bool matches(const Entry& entry, const View& view) {
  return std::ranges::all_of(view.where, [&](const auto& wanted) {
    const AxisValue* value = find_axis(entry, wanted.first);
    return value != nullptr && std::ranges::count(wanted.second, *value) > 0;
  });
}

std::vector<const Entry*> select(std::span<const Entry> entries, const AxisFilter& filter) {
  std::vector<const Entry*> found;
  for (const Entry& entry : entries)
    if (matches(entry, filter)) found.push_back(&entry);
  return found;
}

const Entry* find_measured(std::span<const Entry> entries, const AxisFilter& filter) {
  return picked(select(entries, filter), Pick::first, metric_of);
}

const Entry* best(const std::vector<const Entry*>& entries) {
  const bool lower = !entries.empty() && entries.front()->metric.better == Better::lower;
  return picked(entries, lower ? Pick::least : Pick::most, metric_of);
}

std::vector<CurvePoint> curve_of(const std::vector<const Entry*>& entries,
                                 const std::string& axis) {
  std::vector<CurvePoint> curve;
  for (const Entry* entry : entries)
    if (const double x = number_of(find_axis(*entry, axis));
        !std::isnan(x) && entry->metric.value && !entry->samples.empty())
      curve.push_back({x, entry->samples});
  std::ranges::stable_sort(curve, {}, &CurvePoint::x);
  return curve;
}

const Opponent* fastest_opponent(const Entry& entry) {
  const auto fastest = std::ranges::max_element(entry.opponents, {}, &Opponent::value);
  return fastest == entry.opponents.end() || !fastest->value ? nullptr : &*fastest;
}

const Counter* find_counter(const Entry& entry, const std::string& role) {
  const auto found = std::ranges::find(entry.counters, role, &Counter::role);
  return found == entry.counters.end() ? nullptr : &*found;
}

std::optional<double> counter_value(const Entry& entry, const std::string& role) {
  const Counter* counter = find_counter(entry, role);
  return counter == nullptr ? std::nullopt : counter->value;
}

std::optional<double> sm_clock_of(const Entry& entry) {
  return entry.timing.sm_clock_hz ? entry.timing.sm_clock_hz : entry.telemetry.sm_clock_hz.median;
}

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

Figures::Figures(const Quantities& reading, std::span<const Entry> entries,
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
  } else if (const Entry* entry =
                 q.pick == Pick::best ? best(found) : picked(found, q.pick, q.figure)) {
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

}  // namespace fathom
