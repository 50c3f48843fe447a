#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/query.h"

namespace fathom::occupancy_probe {
namespace {

constexpr const char* theoretical = "theoretical occupancy (%)";

/// Bandwidth within this of the best counts as full: two cards of one model differ by up to 4 % in the
/// same entry (H200), so less than 5 % is no difference that a claim about GPUs could rest on.
constexpr double full_share = 0.95;
/// What O3's author had: 37.6 %.
constexpr double low_occupancy = 37.6;

double theoretical_percent(const Entry& entry) { return std::get<double>(*find_axis(entry, theoretical)); }

std::vector<const Entry*> measured(std::span<const Entry> entries, const AxisFilter& filter = {}) {
  std::vector<const Entry*> found = select(entries, filter);
  std::erase_if(found, [](const Entry* entry) { return !entry->metric.value; });
  return found;
}

bool model_equals_driver(const Entry& entry) {
  return entry.extras.at("model_blocks_per_sm") == entry.extras.at("driver_blocks_per_sm");
}

void add_evidence(Claim& claim, const std::vector<const Entry*>& entries) {
  for (const Entry* entry : entries) claim.evidence.push_back(entry->name);
}

Claim o1(std::span<const Entry> entries) {
  Claim claim = make_claim("O1", "Theoretical occupancy is known before the run from block size, registers and shared memory",
                           "1024 threads: 66.7 % on a part with 48 warps per SM; 256 threads: 100 %");
  const std::vector<const Entry*> all = measured(entries);
  if (all.empty()) return claim;
  const auto equal = std::count_if(all.begin(), all.end(), [](const Entry* e) { return model_equals_driver(*e); });
  claim.verdict = static_cast<std::size_t>(equal) == all.size() ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("resident blocks as the driver says for {} of {} kernels", equal, all.size());
  for (const int threads : {1024, 256}) {
    const Entry* entry = find_measured(entries, {{"turned", "block size"}, {"block", std::int64_t{threads}}});
    if (entry != nullptr) {
      claim.figure += fmt::format("; {} threads: {:.1f} %", threads, theoretical_percent(*entry));
    }
  }
  add_evidence(claim, all);
  return claim;
}

Claim o2(std::span<const Entry> entries) {
  Claim claim = make_claim("O2", "Achieved occupancy is lower, from launch overhead and imbalance",
                           "37.6 % at 1024 threads");
  int lower = 0, counted = 0;
  for (const Entry* entry : measured(entries, {{"turned", "block size"}})) {
    const auto achieved = counter_value(*entry, "achieved_occupancy");
    if (!achieved) continue;
    ++counted;
    lower += *achieved < theoretical_percent(*entry);
    claim.figure += fmt::format("{}{} threads: {:.1f} of {:.1f} %", claim.figure.empty() ? "" : ", ",
                                std::get<std::int64_t>(*find_axis(*entry, "block")), *achieved,
                                theoretical_percent(*entry));
    claim.evidence.push_back(entry->name);
  }
  if (counted > 0) claim.verdict = lower == counted ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  return claim;
}

/// The entry of lowest theoretical occupancy that still has the full bandwidth of `all`'s best.
const Entry* lowest_with_full_bandwidth(const std::vector<const Entry*>& all) {
  const Entry* top = best(all);
  const Entry* lowest = nullptr;
  for (const Entry* entry : all) {
    if (*entry->metric.value < full_share * *top->metric.value) continue;
    if (lowest == nullptr || theoretical_percent(*entry) < theoretical_percent(*lowest)) lowest = entry;
  }
  return lowest;
}

Claim o3(std::span<const Entry> entries, std::string& answer) {
  Claim claim = make_claim("O3", "A memory-bound kernel stays at full bandwidth at low occupancy",
                           "V1's bandwidth at 37.6 %");
  const std::vector<const Entry*> all = measured(entries);
  if (all.empty()) return claim;
  const Entry* top = best(all);
  const Entry* lowest = lowest_with_full_bandwidth(all);
  const double percent = theoretical_percent(*lowest);
  claim.verdict = percent <= low_occupancy ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{:.3f} TB/s at {:.1f} % occupancy ({} 16-byte loads in flight a thread), {:.1f} % of {:.3f} TB/s at best",
                             *lowest->metric.value / 1e12, percent,
                             std::get<std::int64_t>(*find_axis(*lowest, "16-byte loads in flight")),
                             100 * *lowest->metric.value / *top->metric.value, *top->metric.value / 1e12);
  claim.evidence = {lowest->name, top->name};
  answer = fmt::format("A copy keeps {:.0f} % of its best bandwidth ({:.3f} TB/s) down to {:.1f} % occupancy.",
                       100 * full_share, *top->metric.value / 1e12, percent);
  return claim;
}

Claim o4(std::span<const Entry> entries) {
  Claim claim = make_claim("O4", "More shared memory or registers per block lowers occupancy in steps",
                           "128 threads x 180 registers: 8 warps; 256 threads x 128 registers with 32 KiB: 16 warps");
  std::vector<const Entry*> turned;
  for (const char* what : {"shared memory", "registers", "registers and shared memory"}) {
    for (const Entry* entry : measured(entries, {{"turned", what}})) turned.push_back(entry);
  }
  if (turned.empty()) return claim;
  const bool steps = std::all_of(turned.begin(), turned.end(), [](const Entry* e) { return model_equals_driver(*e); });
  claim.verdict = steps ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = "the driver's answer at every step";
  for (const Entry* entry : turned) {
    const auto registers = std::get<std::int64_t>(*find_axis(*entry, "registers"));
    if (registers < 100) continue;
    claim.figure += fmt::format("; {} threads x {} registers with {} KiB: {:.0f} warps",
                                std::get<std::int64_t>(*find_axis(*entry, "block")), registers,
                                std::get<std::int64_t>(*find_axis(*entry, "dynamic shared (B)")) / 1024,
                                entry->extras.at("theoretical_warps"));
  }
  add_evidence(claim, turned);
  return claim;
}

std::vector<View> views() {
  View plot;
  plot.kind = View::Kind::plot;
  plot.title = "Copy bandwidth against occupancy";
  plot.where = {{"turned", {"shared memory"}}};
  plot.x = theoretical;
  plot.x_label = "Theoretical occupancy (%)";
  plot.y_label = "Bandwidth, read + write";
  plot.series = {"grid", "16-byte loads in flight"};
  View table;
  table.title = "Every configuration";
  table.columns = {"turned", "grid", "16-byte loads in flight", "block", "registers", "dynamic shared (B)",
                   "limited by", theoretical, "counter:achieved_occupancy", "metric", "of_bound",
                   "expected", "verdict"};
  return {plot, table};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.claims = {o1(entries), o2(entries), o3(entries, findings.answer), o4(entries)};
  findings.views = views();
  return findings;
}

}  // namespace fathom::occupancy_probe
