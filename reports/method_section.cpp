#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/facts.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/format.h"
#include "results/statistics.h"
#include "results/verdict.h"

namespace fathom::reports {
namespace {

std::string tally_text(const std::map<std::string, std::size_t>& numbers) {
  std::string out;
  for (const auto& [word, number] : numbers) {
    out +=
        fmt::format("{}{}", out.empty() ? "" : ", ", word.empty() ? "unknown" : escape_text(word));
    if (numbers.size() > 1) out += fmt::format(" {}", number);
  }
  return out.empty() ? "–" : out;
}

template <typename Number>
std::string span_text(Number low, Number high) {
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

void write_timing(Writing& to) {
  Table table({{"Probe"},
               {"Mode"},
               {"Timer"},
               {"Launches a sample", Align::right},
               {"Samples", Align::right},
               {"Stopped by"},
               {"Time", Align::right}});
  for (const ProbeSummary& probe : probes_of(to.document)) {
    const EntryList entries = entries_of(to.document, probe.name);
    std::map<std::string, std::size_t> modes, timers, stops;
    std::vector<std::size_t> samples;
    std::vector<int> launches;
    for (const Entry* entry : entries) {
      const Timing& timing = entry->timing;
      ++modes[timing.rest > 0 ? fmt::format("{}, rested {} times as long before each sample", timing.mode, timing.rest)
                              : timing.mode];
      ++timers[entry->timing.timer];
      ++stops[entry->timing.stop];
      samples.push_back(entry->samples.size());
      launches.push_back(entry->timing.launches_per_sample);
    }
    std::string sample_span = "–", launch_span = "–";
    if (!entries.empty()) {
      const auto [fewest, most] = std::minmax_element(samples.begin(), samples.end());
      const auto [least, greatest] = std::minmax_element(launches.begin(), launches.end());
      sample_span = span_text(*fewest, *most);
      launch_span = span_text(*least, *greatest);
    }
    table.add_row({escape_text(probe.name), tally_text(modes), tally_text(timers), launch_span,
                   sample_span, tally_text(stops), format_time(probe.elapsed_s)});
  }
  to.page.table("How samples were taken, with the number of entries", table);
}

struct Channel {
  const char* name;
  const char* unit;
  Range Telemetry::*range;
};

constexpr Channel channels[] = {{"SM clock", "Hz", &Telemetry::sm_clock_hz},
                                {"Memory clock", "Hz", &Telemetry::memory_clock_hz},
                                {"Power", "W", &Telemetry::power_w},
                                {"Temperature", "C", &Telemetry::temperature_c}};

void write_telemetry(Writing& to) {
  Table table({{"Channel"},
               {"Lowest", Align::right},
               {"Median", Align::right},
               {"Highest", Align::right},
               {"Entries", Align::right}});
  for (const Channel& channel : channels) {
    std::optional<double> low, high;
    std::vector<double> medians;
    for (const Entry& entry : to.document.entries) {
      const Range& range = entry.telemetry.*channel.range;
      if (range.low && !(low <= range.low && low)) low = range.low;
      if (range.high && !(high >= range.high && high)) high = range.high;
      if (range.median) medians.push_back(*range.median);
    }
    const auto middle = medians.empty() ? std::nullopt : std::optional(median(medians));
    table.add_row({channel.name, quantity(low, channel.unit), quantity(middle, channel.unit),
                   quantity(high, channel.unit), std::to_string(medians.size())});
  }
  std::map<std::string, std::size_t> throttles, missing;
  bool seen = false;
  for (const Entry& entry : to.document.entries) {
    for (const std::string& reason : entry.telemetry.throttle_reasons) ++throttles[reason];
    if (!entry.telemetry.missing_reason.empty()) ++missing[entry.telemetry.missing_reason];
    seen = seen || entry.telemetry.sm_clock_hz.median;
  }
  to.page.table("The GPU while samples were taken", table);
  std::vector<std::string> items;
  for (const auto& [reason, number] : throttles) {
    items.push_back(fmt::format("Throttled, {}: {}.", escape_text(reason),
                                counted(number, "entry", "entries")));
  }
  for (const auto& [reason, number] : missing) {
    items.push_back(fmt::format("No telemetry of {}: {}.", counted(number, "entry", "entries"),
                                escape_text(without_full_stop(reason))));
  }
  if (throttles.empty() && missing.empty() && seen) items.push_back("No throttling was reported.");
  to.page.list(items);
}

void write_unchecked(Writing& to) {
  std::map<std::string, std::size_t> unchecked;
  for (const Entry& entry : to.document.entries) {
    for (const std::string& what : entry.verdict.unchecked) ++unchecked[what];
  }
  if (unchecked.empty()) return;
  Table table({{"What could not be checked"}, {"Entries", Align::right}});
  for (const auto& [what, number] : unchecked) {
    table.add_row({escape_text(what), std::to_string(number)});
  }
  to.page.table("Not checked", table);
}

}  // namespace

void write_method(Writing& to) {
  to.page.heading(2, "How it was measured", "method");
  to.page.paragraph(fmt::format(
      "Every figure is the median of its samples, with a confidence interval from their order. An "
      "entry is noisy if that interval reaches further than {} to either side, or if rounds of the "
      "measurement differ by more than {}. A figure better than its bound, a counter off its "
      "expectation and a wrong output fail the run.",
      format_percent(noise_half_width), format_percent(noise_repeatability)));
  std::vector<std::string> methods;
  for (const ProbeSummary& probe : to.document.probes) {
    if (!probe.method.empty()) {
      methods.push_back(
          fmt::format("**{}**: {}", escape_text(probe.name), escape_text(probe.method)));
    }
  }
  to.page.list(methods);
  if (to.document.entries.empty()) return;
  write_timing(to);
  write_telemetry(to);
  write_unchecked(to);
}

void write_raw_data(Writing& to) {
  const Document& document = to.document;
  to.page.heading(2, "Raw data", "raw-data");
  to.page.paragraph(fmt::format(
      "All of this is from {}, which also has every sample. It is a superset of Google Benchmark's "
      "JSON: whatever reads that reads this.",
      code(to.document_name)));
  const auto given = [](const std::string& text) {
    return text.empty() ? "unknown" : escape_text(text);
  };
  Table table({{"Property"}, {"Value"}});
  table.add_row({"Schema version", std::to_string(schema_version)});
  table.add_row(
      {"Source", document.source == Source::replay ? "replay of a recording" : "measured"});
  table.add_row({"Date", given(document.date)});
  table.add_row({"Fathom", given(document.fathom_version)});
  table.add_row({"Commit", given(document.fathom_commit)});
  table.add_row({"Suite", given(document.suite)});
  table.add_row({"Seed", given(document.seed)});
  table.add_row({"Program", given(document.executable)});
  table.add_row({"Google Benchmark", given(document.google_benchmark_version)});
  table.add_row({"Host's CPUs", std::to_string(document.num_cpus)});
  to.page.table("Where the document comes from", table);
}

}  // namespace fathom::reports
