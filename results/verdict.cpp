#include "results/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "results/format.h"

namespace fathom {
namespace {

struct Finding {
  VerdictStatus status;
  std::string sentence;
};

/// What is found of an entry, and what could not be checked.
struct Judgement {
  std::vector<Finding> findings;
  std::vector<std::string> unchecked;
};

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
/// than the tolerance; the difference itself where there is nothing to divide by.
std::optional<std::string> difference(double value, double expected, double tolerance,
                                      const std::string& unit, const char* words,
                                      const std::string& model) {
  if (value == expected ||
      (tolerance != 0 && std::abs(value - expected) <= tolerance * std::abs(expected)))
    return std::nullopt;
  const auto [shown, shown_expected] = shown_pair(value, expected, unit, tolerance);
  return fmt::format(
      "{}, {} {} ({}): off by {}, {}", shown, words, shown_expected, model,
      expected == 0 ? format_number(value) : format_percent(std::abs(value / expected - 1)),
      tolerance == 0 ? "they must be equal" : format_percent(tolerance) + " allowed");
}

void check_bound(const Entry& entry, Judgement& to) {
  if (!entry.bound) return;
  const Metric& metric = entry.metric;
  if (!metric.value) {
    to.unchecked.push_back(fmt::format("{} has no value to hold against its bound.", metric.name));
    return;
  }
  const double bound = entry.bound->value;
  if (metric.better == Better::higher ? *metric.value <= bound : *metric.value >= bound) return;
  const auto [value, limit] = shown_pair(*metric.value, bound, metric.unit, 1);
  to.findings.push_back(
      {VerdictStatus::above_bound,
       fmt::format("{} of {} is better than the bound of {} ({}): one of the two is wrong.",
                   metric.name, value, limit, entry.bound->source)});
}

void check_expectation(const Entry& entry, Judgement& to) {
  if (!entry.expected) return;
  const Metric& metric = entry.metric;
  const Expectation& model = *entry.expected;
  if (!metric.value)
    to.unchecked.push_back(fmt::format("{} has no value to hold against the model.", metric.name));
  else if (const auto found = difference(*metric.value, model.value, model.tolerance, metric.unit,
                                         "the model says", model.model))
    to.findings.push_back(
        {VerdictStatus::unexpected, fmt::format("{} is {}.", metric.name, *found)});
}

void check_counters(const Entry& entry, Judgement& to) {
  std::map<std::string, std::vector<std::string>> missing;  // by reason
  for (const Counter& counter : entry.counters) {
    if (!counter.expected || counter.tolerance >= shown_alone) continue;
    if (!counter.value)
      missing[counter.reason].push_back(counter.role);
    else if (const auto found = difference(*counter.value, *counter.expected, counter.tolerance,
                                           counter.unit, "expected", counter.expected_model))
      to.findings.push_back({VerdictStatus::counter_mismatch,
                             fmt::format("counter {} reads {}.", counter.role, *found)});
  }
  for (const auto& [reason, roles] : missing)
    to.unchecked.push_back(fmt::format("not compared with what is expected: {} ({}).",
                                       fmt::join(roles, ", "),
                                       reason.empty() ? "no value" : reason));
}

void add_if_moved(const Range& range, const char* what, std::vector<std::string>& causes) {
  if (!range.low || !range.high) return;
  if (*range.high - *range.low <= clock_moved * *range.high) return;
  causes.push_back(fmt::format("the {} clock moved between {} and {}", what,
                               format_quantity(*range.low, "Hz"),
                               format_quantity(*range.high, "Hz")));
}

/// What the GPU's own throttle reasons mean, in words; other names stay as they are.
std::string throttle_words(const std::string& reason) {
  static const std::map<std::string, std::string> words{
      {"sw_power_cap", "the power limit held the clock down (sw_power_cap)"},
      {"hw_power_brake", "the power supply held the clock down (hw_power_brake)"},
      {"sw_thermal_slowdown", "the temperature held the clock down (sw_thermal_slowdown)"},
      {"hw_thermal_slowdown", "the temperature held the clock down (hw_thermal_slowdown)"}};
  const auto found = words.find(reason);
  return found != words.end() ? found->second : fmt::format("throttle reason {}", reason);
}

std::string noise_causes(const Entry& entry) {
  std::vector<std::string> causes;
  const Telemetry& telemetry = entry.telemetry;
  add_if_moved(telemetry.sm_clock_hz, "SM", causes);
  add_if_moved(telemetry.memory_clock_hz, "memory", causes);
  for (const std::string& reason : telemetry.throttle_reasons) {
    // Set whenever clocks follow the application clock, at its default too.
    if (reason != "applications_clocks_setting") causes.push_back(throttle_words(reason));
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

void check_noise(const Entry& entry, Judgement& to) {
  if (!entry.metric.value) return;
  std::vector<std::string> signs;
  if (entry.interval) {
    const double half = (entry.interval->high - entry.interval->low) / 2;
    if (!(half <= noise_half_width * std::abs(*entry.metric.value))) {
      signs.push_back(fmt::format("the median is known to {} only ({} allowed)",
                                  format_percent(std::abs(half / *entry.metric.value)),
                                  format_percent(noise_half_width)));
    }
  } else {
    to.unchecked.push_back("there is no interval of the median to judge noise by.");
  }
  if (entry.repeatability && !(*entry.repeatability <= noise_repeatability)) {
    signs.push_back(fmt::format("rounds differ by {} ({} allowed)",
                                format_percent(*entry.repeatability),
                                format_percent(noise_repeatability)));
  }
  if (signs.empty()) return;
  to.findings.push_back({VerdictStatus::noisy, fmt::format("noisy: {}; {}.", fmt::join(signs, ", "),
                                                           noise_causes(entry))});
}

}  // namespace

int severity(VerdictStatus status) {
  using enum VerdictStatus;
  constexpr std::array order{ok,          noisy,        unexpected, counter_mismatch,
                             above_bound, wrong_output, failed};
  return static_cast<int>(std::ranges::find(order, status) - order.begin());
}

void judge_entry(Entry& entry) {
  if (severity(entry.verdict.status) >= severity(VerdictStatus::wrong_output)) return;
  Judgement found;
  check_bound(entry, found);
  check_counters(entry, found);
  check_expectation(entry, found);
  check_noise(entry, found);
  std::ranges::stable_sort(found.findings, std::greater(),
                           [](const Finding& f) { return severity(f.status); });
  entry.verdict = {};
  entry.verdict.unchecked = std::move(found.unchecked);
  if (!found.findings.empty()) entry.verdict.status = found.findings.front().status;
  for (Finding& finding : found.findings)
    entry.verdict.reasons.push_back(std::move(finding.sentence));
}

}  // namespace fathom
