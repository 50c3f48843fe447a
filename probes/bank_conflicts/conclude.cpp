#include "probes/bank_conflicts/conclude.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "results/query.h"

namespace fathom::bank_conflicts {
namespace {

/// A wavefront count holds for the clocks if they agree to this: half a wavefront of the smallest
/// count would be 50 %, the loop's overhead stays below 2 %.
constexpr double clock_tolerance = 0.05;

struct Tally {
  int entries = 0, agree = 0, by_counter = 0;
  const Entry* worst = nullptr;
  double worst_error = 0;
  std::vector<std::string> names;
};

double modelled_wavefronts(const Entry& entry) { return entry.extras.at("wavefronts_per_access"); }

/// Counters must equal their expectation; clocks must be one a wavefront.
bool agrees_with_model(const Entry& entry, double& clock_error, bool& counted) {
  clock_error = std::abs(*entry.metric.value / modelled_wavefronts(entry) - 1);
  bool equal = true;
  counted = false;
  for (const Counter& counter : entry.counters) {
    if (!counter.value || !counter.expected) continue;
    counted = true;
    equal = equal && *counter.value == *counter.expected;
  }
  return equal && clock_error <= clock_tolerance;
}

Tally tally(std::span<const Entry> entries, const std::function<bool(const Entry&)>& wanted) {
  Tally result;
  for (const Entry& entry : entries) {
    if (!entry.metric.value || !wanted(entry)) continue;
    double error = 0;
    bool counted = false;
    const bool agrees = agrees_with_model(entry, error, counted);
    ++result.entries;
    result.agree += agrees;
    result.by_counter += counted;
    result.names.push_back(entry.name);
    if (result.worst == nullptr || error > result.worst_error) {
      result.worst = &entry;
      result.worst_error = error;
    }
  }
  return result;
}

Claim from_tally(Claim claim, const Tally& t, const std::string& detail = {}) {
  if (t.entries == 0) return claim;
  claim.verdict = t.agree == t.entries ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{} of {} patterns as predicted ({} by counter too), clocks off by at "
                             "most {:.1f} %{}{}",
                             t.agree, t.entries, t.by_counter, 100 * t.worst_error,
                             detail.empty() ? "" : "; ", detail);
  claim.evidence = t.names;
  return claim;
}

std::string clocks(std::span<const Entry> entries, const AxisFilter& filter) {
  const Entry* entry = find_measured(entries, filter);
  return entry == nullptr ? "(not measured)" : fmt::format("{:.2f}", *entry->metric.value);
}

std::string clocks_of(std::span<const Entry> entries, const char* label, const AxisFilter& filter) {
  return fmt::format("{} {}", label, clocks(entries, filter));
}

AxisFilter pattern(const char* operation, int bits, const char* name) {
  return {{"operation", operation}, {"bits", std::int64_t{bits}}, {"pattern", name}};
}

Claim s1(std::span<const Entry> entries) {
  Claim claim = make_claim("S1", "32 banks of 4 bytes: 128 bytes per clock and SM",
                           "bandwidth at conflict-free stride");
  double least = 0, most = 0;
  for (const char* operation : {"load", "store"}) {
    for (const auto& [bits, name] : {std::pair{32, "stride:1"}, {64, "stride:2"}, {128, "stride:4"}}) {
      const Entry* entry = find_measured(entries, pattern(operation, bits, name));
      if (entry == nullptr) continue;
      const double bytes = entry->extras.at("useful_bytes_per_access") / *entry->metric.value;
      least = claim.evidence.empty() ? bytes : std::min(least, bytes);
      most = std::max(most, bytes);
      claim.evidence.push_back(entry->name);
    }
  }
  if (claim.evidence.empty()) return claim;
  const bool holds = least >= 128 * (1 - clock_tolerance) && most <= 128;
  claim.verdict = holds ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{:.1f} to {:.1f} bytes per clock and SM over {} conflict-free accesses",
                             least, most, claim.evidence.size());
  return claim;
}

bool has_bits(const Entry& entry, int bits) {
  return matches(entry, {{"bits", std::int64_t{bits}}});
}

bool in_family(const Entry& entry, const char* family) {
  return matches(entry, {{"family", family}});
}

std::vector<Claim> claims(std::span<const Entry> entries) {
  std::vector<Claim> result{s1(entries)};
  result.push_back(from_tally(
      make_claim("S2", "32-bit accesses: one wavefront per distinct word in the busiest bank; equal words broadcast",
                 "stride 2: 2, stride 32: 32"),
      tally(entries, [](const Entry& e) { return has_bits(e, 32); }),
      clocks_of(entries, "loads: stride 2", pattern("load", 32, "stride:2")) + ", " +
          clocks_of(entries, "stride 32", pattern("load", 32, "stride:32")) + ", " +
          clocks_of(entries, "broadcast", pattern("load", 32, "broadcast")) + " clocks"));
  result.push_back(from_tally(
      make_claim("S3", "64-bit accesses go half-warp by half-warp: two wavefronts", "float2, double: 2"),
      tally(entries,
            [](const Entry& e) {
              return has_bits(e, 64) && !in_family(e, "pairs") && !in_family(e, "broadcast");
            }),
      clocks_of(entries, "contiguous load", pattern("load", 64, "stride:2")) + ", " +
          clocks_of(entries, "store", pattern("store", 64, "stride:2")) + " clocks"));
  result.push_back(from_tally(
      make_claim("S4", "... merged into one when lane i and i^1 always agree on the address, or lane i and i^2 always do",
                 "one wavefront"),
      tally(entries,
            [](const Entry& e) {
              return has_bits(e, 64) && (in_family(e, "pairs") || in_family(e, "broadcast"));
            }),
      clocks_of(entries, "loads: pairs i^1", pattern("load", 64, "pairs:i^1")) + ", " +
          clocks_of(entries, "i^2", pattern("load", 64, "pairs:i^2")) + ", " +
          clocks_of(entries, "i^4", pattern("load", 64, "pairs:i^4")) + "; " +
          clocks_of(entries, "stores: pairs i^1", pattern("store", 64, "pairs:i^1")) + " clocks"));
  result.push_back(from_tally(
      make_claim("S5", "128-bit accesses go quarter-warp by quarter-warp; within a half-warp S4's condition merges its quarters; the halves never merge",
                 "4, or 2"),
      tally(entries, [](const Entry& e) { return has_bits(e, 128); }),
      clocks_of(entries, "loads: contiguous", pattern("load", 128, "stride:4")) + ", " +
          clocks_of(entries, "pairs i^1", pattern("load", 128, "pairs:i^1")) + ", " +
          clocks_of(entries, "broadcast", pattern("load", 128, "broadcast")) + "; " +
          clocks_of(entries, "stores: pairs i^1", pattern("store", 128, "pairs:i^1")) + " clocks"));

  Claim s6 = make_claim("S6", "A conflict is counted per wavefront, not per warp: 64 distinct consecutive words by float2 are no conflict",
                        "zero conflicts");
  for (const auto& [operation, role] : {std::pair{"load", "shared_load_conflicts"},
                                        {"store", "shared_store_conflicts"}}) {
    const Entry* entry = find_measured(entries, pattern(operation, 64, "stride:2"));
    const std::optional<double> conflicts =
        entry == nullptr ? std::nullopt : counter_value(*entry, role);
    if (!conflicts) continue;
    const bool none = *conflicts == 0;
    if (s6.verdict != ClaimVerdict::refuted) {
      s6.verdict = none ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
    }
    s6.figure += fmt::format("{}{}s: {:.0f} conflicts", s6.figure.empty() ? "" : ", ", operation,
                             *conflicts);
    s6.evidence.push_back(entry->name);
  }
  result.push_back(std::move(s6));

  result.push_back(from_tally(
      make_claim("S8", "Padding a row by one element, or an XOR swizzle, removes the conflicts of column access",
                 "padded, swizzled, plain"),
      tally(entries, [](const Entry& e) { return in_family(e, "column"); }),
      clocks_of(entries, "32-bit loads: plain", pattern("load", 32, "column:plain")) + ", " +
          clocks_of(entries, "padded", pattern("load", 32, "column:padded")) + ", " +
          clocks_of(entries, "swizzled", pattern("load", 32, "column:swizzled")) + " clocks"));
  return result;
}

std::vector<View> views() {
  View strides;
  strides.kind = View::Kind::plot;
  strides.title = "Clocks per access against stride";
  strides.note = "One clock is one wavefront; the dotted line is the model.";
  strides.where = {{"family", {"stride"}}};
  strides.x = "stride (words)";
  strides.x_label = "Stride between lanes (4-byte words)";
  strides.y_label = "Clocks per warp access";
  strides.x_log2 = true;
  strides.series = {"operation", "bits"};
  strides.show_bound = false;

  View table;
  table.title = "Every pattern";
  table.columns = {"operation", "bits", "pattern", "active lanes", "metric", "expected", "verdict"};
  std::vector<View> result{strides, table};
  for (const char* operation : {"load", "store"}) {
    View counted;
    counted.title = fmt::format("Counters of the {}s", operation);
    counted.where = {{"operation", {operation}}};
    counted.columns = {"bits", "pattern"};
    for (const char* what : {"instructions", "wavefronts", "conflicts"}) {
      counted.columns.push_back(fmt::format("counter:shared_{}_{}", operation, what));
    }
    result.push_back(std::move(counted));
  }
  return result;
}

}  // namespace

std::vector<std::string> concluded_claims() { return {"S1", "S2", "S3", "S4", "S5", "S6", "S8"}; }

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.claims = claims(entries);
  findings.views = views();
  const Tally all = tally(entries, [](const Entry&) { return true; });
  if (all.entries > 0) {
    findings.answer = fmt::format(
        "A conflict-free 32-, 64- and 128-bit access costs {}, {} and {} clocks of the SM's data "
        "pipe; {} of {} patterns cost exactly the wavefronts that the model predicts.",
        clocks(entries, pattern("load", 32, "stride:1")),
        clocks(entries, pattern("load", 64, "stride:2")),
        clocks(entries, pattern("load", 128, "stride:4")), all.agree, all.entries);
  }
  return findings;
}

}  // namespace fathom::bank_conflicts
