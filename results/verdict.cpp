#include "results/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "results/text.h"

namespace fathom {
namespace {

/// A value and the one that it should be, in `unit`. Exact figures are shown in full: four digits
/// would not show the difference.
std::pair<std::string, std::string> shown_pair(double value, double expected,
                                               const std::string& unit, double tolerance) {
  std::pair<std::string, std::string> pair{format_quantity(value, unit),
                                           format_quantity(expected, unit)};
  if (tolerance == 0 || pair.first == pair.second) {
    pair = {fmt::format("{} {}", format_exact(value), unit),
            fmt::format("{} {}", format_exact(expected), unit)};
  }
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
  if (!entry.timing.stop.empty() && entry.timing.stop != "converged") {
    causes.push_back(fmt::format("sampling stopped at its {} with {} samples", entry.timing.stop,
                                 entry.samples.size()));
  }
  const double sample_s = entry.real_time_s * entry.timing.launches_per_sample;
  if (entry.timing.timer == "cudaEvent" && sample_s > 0 &&
      event_resolution_s > noise_half_width * sample_s) {
    causes.push_back(fmt::format("a sample of {} is close to the event timer's resolution of {}",
                                 format_time(sample_s), format_time(event_resolution_s)));
  }
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

}  // namespace fathom
