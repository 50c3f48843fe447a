#include "reports/sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "results/statistics.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

template <typename Number>
std::string text_of(const std::optional<Number>& value, const char* unit) {
  return value ? format_quantity(static_cast<double>(*value), unit) : "";
}

}  // namespace

std::vector<MachineProperty> machine_properties(const Fingerprint& f) {
  return {{"Name", f.gpu_name},
          {"Compute capability", f.compute_capability},
          {"Streaming multiprocessors", text_of(f.sms, "")},
          {"Memory", text_of(f.memory_bytes, "B")},
          {"Memory bus", text_of(f.memory_bus_bits, "bit")},
          {"L2 cache", text_of(f.l2_bytes, "B")},
          {"Highest SM clock", text_of(f.sm_clock_max_hz, "Hz")},
          {"Highest memory clock", text_of(f.memory_clock_max_hz, "Hz")},
          {"Power limit", text_of(f.power_limit_w, "W")},
          {"PCIe link", f.pcie_link},
          {"Identity (hash)", f.gpu_uuid_hash},
          {"Driver", f.driver},
          {"CUDA of the driver", f.cuda_driver},
          {"CUDA runtime", f.cuda_runtime},
          {"CUDA toolkit", f.toolkit},
          {"VBIOS", f.vbios},
          {"ECC", f.ecc},
          {"MIG", f.mig},
          {"Persistence mode", f.persistence},
          {"Compute mode", f.compute_mode},
          {"Virtualisation", f.virtualization},
          {"Confidential computing", f.confidential_computing}};
}

void write_environment(PageContext& to) {
  to.page.heading(2, "Environment", "environment");
  std::vector<std::string> properties;
  for (const MachineProperty& one : machine_properties(to.document.fingerprint))
    properties.push_back(
        fmt::format("{}: **{}**", one.name, one.text.empty() ? "unknown" : escape_text(one.text)));
  to.page.paragraph(fmt::format("{}", fmt::join(properties, " · ")));
  Table bounds({"Bound", ">Value", "Source"});
  for (const DeviceBound& bound : to.document.bounds) {
    bounds.add_row({escape_text(spaced(bound.name)), quantity(bound.value, bound.unit),
                    escape_text(bound.source)});
  }
  to.page.table("What physics allows this GPU", bounds);
}

void write_bounds(PageContext& to) {
  to.page.heading(2, "Measured against bound", "bounds");
  Table table({"Probe", "Metric", ">Measured", ">Bound", ">Share (%)"});
  for (const ProbeSummary& summary : probes_of(to.document)) {
    const std::string& probe = summary.name;
    for (const Entry* entry : closest_to_bound(entries_of(to.document, probe))) {
      const std::string& unit = entry->metric.unit;
      table.add_row({escape_text(probe),
                     entry_link(*entry, escape_text(spaced(entry->metric.name))),
                     quantity(entry->metric.value, unit) +
                         (entry->verdict.status == VerdictStatus::noisy ? " ~" : ""),
                     quantity(entry->bound->value, unit),
                     fmt::format("{:.1f}", *share_of_bound(*entry) * 100)});
    }
  }
  if (table.rows() == 0) {
    to.page.paragraph("No entry has both a figure and a bound.");
    return;
  }
  to.page.paragraph(
      "The entry of each probe and metric that comes closest to what physics allows; it names "
      "where its bound comes from.");
  to.page.table("The closest to its bound", table);
}

void write_opponents(PageContext& to) {
  struct Duel {
    std::string probe, opponent;
    std::vector<double> ratios{};
  };
  std::vector<Duel> duels;
  for (const Entry& entry : to.document.entries)
    for (const Opponent& opponent : entry.opponents) {
      if (!opponent.ratio) continue;
      auto duel = std::ranges::find_if(duels, [&](const Duel& one) {
        return one.probe == entry.probe && one.opponent == opponent.name;
      });
      if (duel == duels.end()) duel = duels.insert(duel, {entry.probe, opponent.name});
      duel->ratios.push_back(*opponent.ratio);
    }
  if (duels.empty()) return;
  to.page.heading(2, "Against other implementations", "opponents");
  to.page.paragraph(
      "Each was timed alternately with the entry, on the same data. The ratio is the median of the "
      "pairs; above 1 the entry is better. Each entry of the HTML page has its own ratios, with "
      "their intervals.");
  Table table({"Probe", "Opponent", ">Comparisons", ">Ahead in", ">Lowest ratio", ">Median ratio",
               ">Highest ratio"});
  for (const auto& [probe, opponent, all] : duels) {
    const auto [low, high] = std::ranges::minmax(all);
    const auto ahead = std::ranges::count_if(all, [](double ratio) { return ratio > 1; });
    table.add_row({escape_text(probe), escape_text(opponent), std::to_string(all.size()),
                   std::to_string(ahead), fmt::format("{:.3f}", low),
                   fmt::format("{:.3f}", median(all)), fmt::format("{:.3f}", high)});
  }
  to.page.table("Each opponent over all its comparisons", table);
}

namespace {

void write_telemetry(PageContext& to) {
  Table table({"Channel", ">Lowest", ">Median", ">Highest", ">Entries"});
  for (const auto& [name, unit, channel] : {std::tuple{"SM clock", "Hz", &Telemetry::sm_clock_hz},
                                            {"Memory clock", "Hz", &Telemetry::memory_clock_hz},
                                            {"Power", "W", &Telemetry::power_w},
                                            {"Temperature", "C", &Telemetry::temperature_c}}) {
    std::optional<double> low, high;
    std::vector<double> medians;
    for (const Entry& entry : to.document.entries) {
      const Range& range = entry.telemetry.*channel;
      if (range.low && !(low <= range.low && low)) low = range.low;
      if (range.high && !(high >= range.high && high)) high = range.high;
      if (range.median) medians.push_back(*range.median);
    }
    table.add_row({name, quantity(low, unit), quantity(median_or_none(medians), unit),
                   quantity(high, unit), std::to_string(medians.size())});
  }
  std::map<std::string, std::size_t> throttles, missing;
  for (const Entry& entry : to.document.entries) {
    for (const std::string& reason : entry.telemetry.throttle_reasons) ++throttles[reason];
    if (!entry.telemetry.missing_reason.empty()) ++missing[entry.telemetry.missing_reason];
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
  to.page.list(items);
}

void write_unchecked(PageContext& to) {
  std::map<std::string, std::size_t> unchecked;
  for (const Entry& entry : to.document.entries) {
    for (const std::string& what : entry.verdict.unchecked) ++unchecked[what];
  }
  Table table({"What could not be checked", ">Entries"});
  for (const auto& [what, number] : unchecked) {
    table.add_row({escape_text(what), std::to_string(number)});
  }
  to.page.table("Not checked", table);
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

}  // namespace fathom::reports
