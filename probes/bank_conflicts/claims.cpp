#include "probes/claims.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "results/query.h"

namespace fathom::bank_conflicts {
namespace {

/// Where there are no counters, clocks stand for wavefronts if they agree to this: the loop's own
/// overhead stays below 2 %, and half a wavefront of the smallest count would be 50 %.
constexpr double clock_tolerance = 0.05;

/// Entries of one claim and operation, and how many cost what the claim says.
struct Tally {
  int entries = 0, as_claimed = 0, counted = 0;
  std::string first_exception;
  std::vector<std::string> names;
};

/// Wavefronts per access by the counter, else by the clocks.
double measured_wavefronts(const Entry& entry, bool& counted) {
  for (const char* role : {"shared_load_wavefronts", "shared_store_wavefronts"}) {
    if (const auto value = counter_value(entry, role)) {
      counted = true;
      return (*value - entry.extras.at("filling_stores")) / entry.extras.at("accesses");
    }
  }
  counted = false;
  return *entry.metric.value;
}

Tally tally(std::span<const Entry> entries, const char* operation,
            const std::function<bool(const Entry&)>& wanted) {
  Tally result;
  for (const Entry& entry : entries) {
    if (!entry.metric.value || !matches(entry, {{"operation", operation}}) || !wanted(entry)) continue;
    bool counted = false;
    const double measured = measured_wavefronts(entry, counted);
    const double claimed = entry.extras.at("claimed_wavefronts");
    const bool as_claimed =
        counted ? measured == claimed : std::abs(measured / claimed - 1) <= clock_tolerance;
    ++result.entries;
    result.as_claimed += as_claimed;
    result.counted += counted;
    result.names.push_back(entry.name);
    if (!as_claimed && result.first_exception.empty()) {
      result.first_exception = fmt::format("{} takes {:.3g} instead of {:.0f}", entry.name, measured, claimed);
    }
  }
  return result;
}

/// The claim for one operation: its sources speak of loads; stores get a row of their own.
Claim from_tally(Claim claim, std::span<const Entry> entries, const char* operation,
                 const std::function<bool(const Entry&)>& wanted, const std::string& detail) {
  if (std::string(operation) == "store") {
    claim.id += " (stores)";
    claim.claimed = "not claimed for stores";
  }
  const Tally t = tally(entries, operation, wanted);
  if (t.entries == 0) return claim;
  claim.verdict = t.as_claimed == t.entries ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{} of {} patterns cost the wavefronts claimed ({} by counter){}{}; {}",
                             t.as_claimed, t.entries, t.counted, t.first_exception.empty() ? "" : "; ",
                             t.first_exception, detail);
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

/// One claim for one operation, and the patterns whose clocks it shows.
void add_claims(std::vector<Claim>& result, std::span<const Entry> entries, const char* operation) {
  const auto shown = [&](int bits, std::initializer_list<std::pair<const char*, const char*>> patterns) {
    std::string text = "clocks:";
    for (const auto& [label, name] : patterns) {
      text += (text.back() == ':' ? " " : ", ") + clocks_of(entries, label, pattern(operation, bits, name));
    }
    return text;
  };
  const auto pairs = [](const Entry& e) { return in_family(e, "pairs") || in_family(e, "broadcast"); };
  result.push_back(from_tally(
      make_claim("S2", "32-bit accesses: one wavefront per distinct word in the busiest bank; equal words broadcast",
                 "stride 2: 2, stride 32: 32"),
      entries, operation, [](const Entry& e) { return has_bits(e, 32); },
      shown(32, {{"stride 2", "stride:2"}, {"stride 32", "stride:32"}, {"broadcast", "broadcast"}})));
  result.push_back(from_tally(
      make_claim("S3", "64-bit accesses go half-warp by half-warp: two wavefronts", "float2, double: 2"),
      entries, operation, [&](const Entry& e) { return has_bits(e, 64) && !pairs(e); },
      shown(64, {{"contiguous", "stride:2"}, {"half the lanes", "inactive:lower-half-active"}})));
  result.push_back(from_tally(
      make_claim("S4", "... merged into one when lane i and i^1 always agree on the address, or lane i and i^2 always do",
                 "one wavefront"),
      entries, operation, [&](const Entry& e) { return has_bits(e, 64) && pairs(e); },
      shown(64, {{"pairs i^1", "pairs:i^1"}, {"i^2", "pairs:i^2"}, {"i^4", "pairs:i^4"}})));
  result.push_back(from_tally(
      make_claim("S5", "128-bit accesses go quarter-warp by quarter-warp; within a half-warp S4's condition merges its quarters; the halves never merge",
                 "4, or 2"),
      entries, operation, [](const Entry& e) { return has_bits(e, 128); },
      shown(128, {{"contiguous", "stride:4"}, {"pairs i^1", "pairs:i^1"}, {"broadcast", "broadcast"}})));
  result.push_back(from_tally(
      make_claim("S8", "Padding a row by one element, or an XOR swizzle, removes the conflicts of column access",
                 "padded, swizzled, plain"),
      entries, operation, [](const Entry& e) { return in_family(e, "column"); },
      shown(32, {{"plain", "column:plain"}, {"padded", "column:padded"}, {"swizzled", "column:swizzled"}})));
}

/// Entries whose counters and clocks are all as the model says.
std::pair<int, int> as_modelled(std::span<const Entry> entries) {
  int measured = 0, good = 0;
  for (const Entry& entry : entries) {
    if (!entry.metric.value) continue;
    ++measured;
    bool equal = entry.expected && std::abs(*entry.metric.value / entry.expected->value - 1) <=
                                       entry.expected->tolerance;
    for (const Counter& counter : entry.counters) {
      if (counter.value && counter.expected) equal = equal && *counter.value == *counter.expected;
    }
    good += equal;
  }
  return {good, measured};
}

std::vector<Claim> claims(std::span<const Entry> entries) {
  std::vector<Claim> result{s1(entries)};
  add_claims(result, entries, "load");
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
  add_claims(result, entries, "store");
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
  const auto [good, measured] = as_modelled(entries);
  if (measured > 0) {
    findings.answer = fmt::format(
        "A conflict-free 32-, 64- and 128-bit access costs {}, {} and {} clocks of the SM's data "
        "pipe; {} of {} patterns cost exactly what the model predicts.",
        clocks(entries, pattern("load", 32, "stride:1")), clocks(entries, pattern("load", 64, "stride:2")),
        clocks(entries, pattern("load", 128, "stride:4")), good, measured);
  }
  return findings;
}

}  // namespace fathom::bank_conflicts
