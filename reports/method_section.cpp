#include <fmt/format.h>

#include <map>

#include "reports/facts.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/statistics.h"
#include "results/text.h"
#include "results/verdict.h"

namespace fathom::reports {
namespace {

struct Channel {
  const char* name;
  const char* unit;
  Range Telemetry::*range;
};

constexpr Channel channels[] = {{"SM clock", "Hz", &Telemetry::sm_clock_hz},
                                {"Memory clock", "Hz", &Telemetry::memory_clock_hz},
                                {"Power", "W", &Telemetry::power_w},
                                {"Temperature", "C", &Telemetry::temperature_c}};

void write_telemetry(PageContext& to) {
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

void write_unchecked(PageContext& to) {
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

/// Where the document comes from.
void write_source(PageContext& to) {
  const Document& document = to.document;
  const auto given = [](const std::string& text) {
    return text.empty() ? "unknown" : escape_text(text);
  };
  to.page.paragraph(fmt::format(
      "All of this is from {} ({}; schema {}, Fathom {}, commit {}, seed {}), which also has every "
      "sample. It is a superset of Google Benchmark's JSON: whatever reads that reads this.",
      code(to.document_name),
      document.source == Source::replay ? "replay of a recording" : "measured", schema_version,
      given(document.fathom_version), given(document.fathom_commit), given(document.seed)));
}

}  // namespace

void write_method(PageContext& to) {
  to.page.heading(2, "How it was measured", "method");
  to.page.paragraph(fmt::format(
      "Every figure is the median of its samples, with a confidence interval from their order. An "
      "entry is noisy if that interval reaches further than {} to either side, or if rounds of the "
      "measurement differ by more than {}, and unexpected if it is further from the model's figure "
      "than its tolerance allows. A figure better than its bound, a counter off its expectation "
      "and a wrong output fail the run.",
      format_percent(noise_half_width), format_percent(noise_repeatability)));
  to.page.paragraph(fmt::format(
      "{} stands below its curves; {} names its timer, mode, launches, samples and why they ended.",
      explore_link("Each probe's method", "view=probes"),
      explore_link("each entry", "view=probes")));
  if (!to.document.entries.empty()) {
    write_telemetry(to);
    write_unchecked(to);
  }
  write_source(to);
}

}  // namespace fathom::reports
