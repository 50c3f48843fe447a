#include "results/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "results/format.h"

namespace fathom {
namespace {

struct Finding {
  VerdictStatus status;
  std::string sentence;
};

using VerdictFindings = std::vector<Finding>;

bool within(double value, double expected, double tolerance) {
  if (tolerance == 0) return value == expected;
  return std::abs(value - expected) <= tolerance * std::abs(expected);
}

std::string allowed(double tolerance) {
  return tolerance == 0 ? "they must be equal" : format_percent(tolerance) + " allowed";
}

/// "3.1 %", or the difference itself where there is nothing to divide by.
std::string deviation(double value, double expected) {
  if (expected == 0) return fmt::format("off by {}", format_number(value));
  return fmt::format("off by {}", format_percent(std::abs(value / expected - 1)));
}

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

void check_bound(const Entry& entry, VerdictFindings& findings,
                 std::vector<std::string>& unchecked) {
  if (!entry.bound) return;
  const Metric& metric = entry.metric;
  if (!metric.value) {
    unchecked.push_back(fmt::format("{} has no value to hold against its bound.", metric.name));
    return;
  }
  const double bound = entry.bound->value;
  const bool keeps =
      metric.better == Better::higher ? *metric.value <= bound : *metric.value >= bound;
  if (keeps) return;
  const auto [value, limit] = shown_pair(*metric.value, bound, metric.unit, 1);
  findings.push_back(
      {VerdictStatus::above_bound,
       fmt::format("{} of {} is better than the bound of {} ({}): one of the two is wrong.",
                   metric.name, value, limit, entry.bound->source)});
}

void check_expectation(const Entry& entry, VerdictFindings& findings,
                       std::vector<std::string>& unchecked) {
  if (!entry.expected) return;
  const Metric& metric = entry.metric;
  if (!metric.value) {
    unchecked.push_back(fmt::format("{} has no value to hold against the model.", metric.name));
    return;
  }
  const Expectation& expected = *entry.expected;
  if (within(*metric.value, expected.value, expected.tolerance)) return;
  const auto [value, model] =
      shown_pair(*metric.value, expected.value, metric.unit, expected.tolerance);
  findings.push_back({VerdictStatus::unexpected,
                      fmt::format("{} is {}, the model says {} ({}): {}, {}.", metric.name, value,
                                  model, expected.model, deviation(*metric.value, expected.value),
                                  allowed(expected.tolerance))});
}

void check_counters(const Entry& entry, VerdictFindings& findings,
                    std::vector<std::string>& unchecked) {
  std::map<std::string, std::vector<std::string>> missing;  // by reason
  for (const Counter& counter : entry.counters) {
    if (!counter.expected || counter.tolerance >= shown_alone) continue;
    if (!counter.value) {
      missing[counter.reason].push_back(counter.role);
      continue;
    }
    if (within(*counter.value, *counter.expected, counter.tolerance)) continue;
    const auto [value, model] =
        shown_pair(*counter.value, *counter.expected, counter.unit, counter.tolerance);
    findings.push_back(
        {VerdictStatus::counter_mismatch,
         fmt::format("counter {} reads {}, expected {} ({}): {}, {}.", counter.role, value, model,
                     counter.expected_model, deviation(*counter.value, *counter.expected),
                     allowed(counter.tolerance))});
  }
  for (const auto& [reason, roles] : missing) {
    unchecked.push_back(fmt::format("not compared with what is expected: {} ({}).",
                                    fmt::join(roles, ", "), reason.empty() ? "no value" : reason));
  }
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

void check_noise(const Entry& entry, VerdictFindings& findings,
                 std::vector<std::string>& unchecked) {
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
    unchecked.push_back("there is no interval of the median to judge noise by.");
  }
  if (entry.repeatability && !(*entry.repeatability <= noise_repeatability)) {
    signs.push_back(fmt::format("rounds differ by {} ({} allowed)",
                                format_percent(*entry.repeatability),
                                format_percent(noise_repeatability)));
  }
  if (signs.empty()) return;
  findings.push_back({VerdictStatus::noisy,
                      fmt::format("noisy: {}; {}.", fmt::join(signs, ", "), noise_causes(entry))});
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
  VerdictFindings findings;
  Verdict verdict;
  check_bound(entry, findings, verdict.unchecked);
  check_counters(entry, findings, verdict.unchecked);
  check_expectation(entry, findings, verdict.unchecked);
  check_noise(entry, findings, verdict.unchecked);
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    return severity(a.status) > severity(b.status);
  });
  if (!findings.empty()) verdict.status = findings.front().status;
  for (Finding& finding : findings) verdict.reasons.push_back(std::move(finding.sentence));
  entry.verdict = std::move(verdict);
}

}  // namespace fathom
