// The figures of an entry and the formulas that rows name.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "results/format.h"
#include "results/rows.h"

namespace fathom {
namespace {

constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

double number_of(const AxisValue* value) {
  if (value == nullptr) return no_figure;
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(value);
  return real == nullptr ? no_figure : *real;
}

Formula extreme_of(std::string name, std::vector<std::string> quantities, double sign,
                   std::string unit = {}) {
  return {std::move(name),
          [quantities, sign](const Figures& f) {
            double least = std::numeric_limits<double>::infinity();
            for (const std::string& each : quantities)  // of which none may be missing
              least = sign * f[each] >= least || std::isnan(least) ? least : sign * f[each];
            return sign * least;
          },
          std::move(unit)};
}

}  // namespace

std::string same_speed_sentence() {
  return fmt::format("Two speeds count as the same where the slower has at least {} of the faster.",
                     format_percent(same_speed));
}

double metric_of(const Entry& entry) { return entry.metric.value.value_or(no_figure); }
double bound_of(const Entry& entry) { return entry.bound ? entry.bound->value : no_figure; }
double ratio_to_opponents(const Entry& entry) {
  double least = no_figure;
  for (const Opponent& opponent : entry.opponents)
    if (opponent.ratio && !(*opponent.ratio >= least)) least = *opponent.ratio;
  return least;
}
double fastest_opponent_of(const Entry& entry) {
  const Opponent* fastest = fastest_opponent(entry);
  return fastest == nullptr ? no_figure : *fastest->value;
}
Figure counter_of(std::string role) {
  return [role](const Entry& entry) { return counter_value(entry, role).value_or(no_figure); };
}
Figure extra_of(std::string name) {
  return [name](const Entry& entry) {
    const auto found = entry.extras.find(name);
    return found == entry.extras.end() ? no_figure : found->second;
  };
}
Figure axis_of(std::string name) {
  return [name](const Entry& entry) { return number_of(find_axis(entry, name)); };
}
Figure passes(std::function<bool(const Entry&)> test) {
  return [test](const Entry& entry) { return test(entry) ? 1.0 : 0.0; };
}

Formula ratio(std::string name, std::string over, std::string under) {
  return {std::move(name), [over, under](const Figures& f) { return f[over] / f[under]; }};
}

Formula least_of(std::string name, std::vector<std::string> quantities) {
  return extreme_of(std::move(name), std::move(quantities), 1);
}
Formula most_of(std::string name, std::vector<std::string> quantities, std::string unit) {
  return extreme_of(std::move(name), std::move(quantities), -1, std::move(unit));
}

}  // namespace fathom
