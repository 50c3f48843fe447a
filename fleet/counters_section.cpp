#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "fleet/sections.h"
#include "results/exit_codes.h"
#include "results/format.h"

namespace fathom::fleet {
namespace {

bool refused(const GpuSummary& s) { return s.exit_code == to_int(ExitCode::counters_unavailable); }

bool collected(const GpuSummary& s) {
  return s.no_counters.empty() && s.status == GpuStatus::complete && !refused(s);
}

/// On how many GPUs counters were asked for, on how many they were collected, and of which probes
/// no GPU has them.
void write_collected(const Fleet& fleet, reports::Page& page) {
  std::size_t asked = 0, had = 0, without = 0;
  bool any_has_all = false;
  std::set<std::string> wanted, there;
  for (const FleetGpu& gpu : fleet.gpus) {
    const GpuSummary& s = gpu.summary;
    if (s.source == Source::replay || !s.no_counters.empty()) continue;
    ++asked;
    without += refused(s);
    wanted.insert(s.counters_of.begin(), s.counters_of.end());
    if (!collected(s)) continue;
    ++had;
    any_has_all = any_has_all || s.counters_of.empty();
    there.insert(s.counters_of.begin(), s.counters_of.end());
  }
  if (asked == 0) return;
  std::string text = fmt::format("Hardware counters were asked for on {}, collected on {}",
                                 counted(asked, "GPU"), had);
  if (without > 0) text += fmt::format("; {} were refused them", without);
  if (asked > had + without) text += fmt::format("; {} did not complete", asked - had - without);
  page.paragraph(text + ".");
  if (any_has_all) return;
  std::vector<std::string> missing;
  for (const std::string& probe : wanted)
    if (!there.contains(probe)) missing.push_back(reports::code(probe));
  if (!missing.empty())
    page.paragraph(
        fmt::format("No GPU that completed has the counters of {}.", fmt::join(missing, ", ")));
}

}  // namespace

void write_counters(FleetWriting& to) {
  const Fleet& fleet = to.fleet;
  reports::Page& page = to.page;
  if (std::ranges::any_of(fleet.gpus,
                          [](const FleetGpu& gpu) { return !gpu.summary.counters_of.empty(); }))
    page.paragraph(
        "Each probe's hardware counters were to be collected by one GPU of its host (`--counters "
        "shared`), which the host's page names; the others leave out its cases that only counters "
        "can decide.");
  write_collected(fleet, page);
  std::map<std::string, std::vector<std::size_t>> without;
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i)
    if (const std::string& why = fleet.gpus[i].summary.no_counters; !why.empty())
      without[why].push_back(i);
  constexpr std::size_t most_named = 8;
  for (const auto& [why, gpus] : without)
    page.paragraph(reports::escape_text(
        fmt::format("No hardware counters on {} of {} ({}): {}. Their cases that only counters can "
                    "decide were left out.",
                    gpus.size(), counted(fleet.gpus.size(), "GPU"), why,
                    gpus.size() == fleet.gpus.size() ? "all" : names_of(fleet, gpus, most_named))));
}

}  // namespace fathom::fleet
