#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/claims.h"
#include "results/findings.h"

namespace fathom::bank_conflicts {
namespace {

using I = std::int64_t;

/// Where there are no counters, clocks stand for wavefronts if they agree to this: the loop's own
/// overhead stays below 2 %, and half a wavefront of the smallest count would be 50 %.
constexpr double clock_tolerance = 0.05;

bool is_counted(const Entry& e) {
  return counter_value(e, "shared_load_wavefronts") || counter_value(e, "shared_store_wavefronts");
}

/// Wavefronts per access by the counter, else by the clocks.
double wavefronts(const Entry& e) {
  for (const char* role : {"shared_load_wavefronts", "shared_store_wavefronts"})
    if (const auto value = counter_value(e, role))
      return (*value - extra_of("filling_stores")(e)) / extra_of("accesses")(e);
  return metric_of(e);
}

/// 1 or 0; NaN of a document that lacks a figure.
double as_claimed(const Entry& e) {
  const double found = wavefronts(e), claimed = extra_of("claimed_wavefronts")(e);
  if (std::isnan(found - claimed)) return found - claimed;
  return is_counted(e) ? found == claimed : std::abs(found / claimed - 1) <= clock_tolerance;
}

bool as_modelled(const Entry& e) {
  return e.expected && std::abs(metric_of(e) / e.expected->value - 1) <= e.expected->tolerance &&
         std::ranges::all_of(
             e.counters,
             [](const Counter& c) { return !c.value || !c.expected || *c.value == *c.expected; });
}

AxisFilter pattern(const std::string& operation, I bits, const char* name) {
  return {{"operation", operation}, {"bits", bits}, {"pattern", name}};
}

template <I bits>
bool has_bits(const Entry& e) {
  return matches(e, {{"bits", bits}});
}

/// S4 speaks of lanes whose partner is inactive too.
bool is_merging(const Entry& e) {
  return is_any(e, "family", {"pairs", "broadcast"}) ||
         is_any(e, "pattern", {"inactive:even-lanes-active", "inactive:one-lane-active"});
}

/// A claim about patterns, and some whose clocks it shows. Stores get a row of their own.
ClaimRow row(const std::string& operation, const std::string& id, const char* statement,
             const char* claimed_of_loads, bool (*covers)(const Entry&), I bits,
             const std::vector<std::pair<const char*, const char*>>& shown) {
  const bool loads = operation == "load";
  const AxisFilter where{{"operation", operation}};
  const auto covered = [=](const Entry& e) { return is_measured(e) && covers(e); };
  const auto refutes = [=](const Entry& e) { return covered(e) && as_claimed(e) == 0; };
  ClaimRow claim{
      id + (loads ? "" : " (stores)"),
      double_products,
      statement,
      loads ? claimed_of_loads : "not claimed for stores",
      {{"right", where, Pick::sum, as_claimed, "", covered},
       {"counted", where, Pick::sum, is_counted, "", covered},
       {"patterns", where, Pick::count, as_claimed, "", covered},
       {"other", where, Pick::first, wavefronts, "", refutes}},
      {{"right/patterns", 1, 1}},
      "{right:.0f} of {patterns:.0f} patterns cost the wavefronts claimed ({counted:.0f} by "
      "counter)[; {other pattern} takes {other:.3g} instead of {other claimed_wavefronts:.0f}]; "
      "clocks"};
  for (const auto& [label, name] : shown) {
    claim.reading.push_back({label, pattern(operation, bits, name)});
    claim.sentence += fmt::format("{} {} {{{}:.2f}}",
                                  claim.sentence.ends_with("clocks") ? ":" : ",", label, label);
  }
  return claim;
}

std::vector<ClaimRow> rows(const char* operation) {
  return {
      row(operation, "S2",
          "32-bit accesses: one wavefront per distinct word in the busiest bank; equal words "
          "broadcast",
          "stride 2: 2, stride 32: 32", has_bits<32>, 32,
          {{"stride 2", "stride:2"}, {"stride 32", "stride:32"}, {"broadcast", "broadcast"}}),
      row(
          operation, "S3", "64-bit accesses go half-warp by half-warp: two wavefronts",
          "float2, double: 2", [](const Entry& e) { return has_bits<64>(e) && !is_merging(e); }, 64,
          {{"contiguous", "stride:2"}, {"half the lanes", "inactive:lower-half-active"}}),
      row(
          operation, "S4",
          "... merged into one when for every active lane i of the warp lane i^1 is inactive or "
          "agrees on the address, or i^2 is or does",
          "one wavefront", [](const Entry& e) { return has_bits<64>(e) && is_merging(e); }, 64,
          {{"pairs i^1", "pairs:i^1"}, {"i^2", "pairs:i^2"}, {"i^4", "pairs:i^4"}}),
      row(operation, "S5",
          "128-bit accesses go quarter-warp by quarter-warp; under S4's condition over the whole "
          "warp the quarters of each half merge; the halves never merge",
          "4, or 2", has_bits<128>, 128,
          {{"contiguous", "stride:4"},
           {"pairs i^1", "pairs:i^1"},
           {"i^1 in one half", "pairs:i^1-in-lower-half"},
           {"broadcast", "broadcast"}}),
      row(
          operation, "S8",
          "Padding a row by one element, or an XOR swizzle, removes the conflicts of column access",
          "padded, swizzled, plain", [](const Entry& e) { return is_any(e, "family", {"column"}); },
          32,
          {{"plain", "column:plain"},
           {"padded", "column:padded"},
           {"swizzled", "column:swizzled"}})};
}

ClaimRow s1() {
  const auto conflict_free = [](const Entry& e) {
    const I words = static_cast<I>(axis_of("bits")(e)) / 32;
    return matches(e, {{"pattern", "stride:" + std::to_string(words)}});
  };
  const auto bytes = [](const Entry& e) {
    return extra_of("useful_bytes_per_access")(e) / metric_of(e);
  };
  return {"S1",
          double_products,
          "32 banks of 4 bytes: 128 bytes per clock and SM",
          "bandwidth at conflict-free stride",
          {{"accesses", {}, Pick::count, bytes, "", conflict_free},
           {"least", {}, Pick::least, bytes, "", conflict_free},
           {"most", {}, Pick::most, bytes, "", conflict_free}},
          {{"least", 128 * (1 - clock_tolerance)}, {"most", 0, 128}},
          "{least:.1f} to {most:.1f} bytes per clock and SM over {accesses:.0f} "
          "conflict-free accesses"};
}

ClaimRow s6() {
  const auto consecutive = [](const Entry& e) {  // the second and third with lanes left out
    return is_any(e, "pattern",
                  {"stride:2", "inactive:lower-half-active", "inactive:quarters-0-2-active"});
  };
  const auto conflicts = [=](const std::string& operation) {
    return Quantity{operation,  {{"operation", operation}, {"bits", 64}},
                    Pick::most, counter_of("shared_" + operation + "_conflicts"),
                    "",         consecutive};
  };
  return {"S6",
          double_products,
          "A conflict is counted per wavefront, not per warp: 64 distinct consecutive "
          "words by float2 are no conflict",
          "zero conflicts",
          {conflicts("load"), conflicts("store")},
          {{"load", 0, 0}, {"store", 0, 0}},
          "[loads: {load:.0f} conflicts][, stores: {store:.0f} conflicts]",
          Rule::those_measured};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions all{
      .claims = std::vector{s1()} + rows("load") + std::vector{s6()} + rows("store"),
      .reading = {{"32", pattern("load", 32, "stride:1")},
                  {"64", pattern("load", 64, "stride:2")},
                  {"128", pattern("load", 128, "stride:4")},
                  {"good", {}, Pick::sum, as_modelled, "", is_measured},
                  {"measured", {}, Pick::count}},
      .answer =
          "A conflict-free 32-, 64- and 128-bit access costs {32:.2f}, {64:.2f} and "
          "{128:.2f} clocks of the SM's data pipe; {good:.0f} of {measured:.0f} patterns "
          "cost exactly what the model predicts.",
      .views = {
          plot("Clocks per access against stride", {{"family", {"stride"}}}, "stride (words)",
               "Clocks per warp access", {"operation", "bits"},
               {.x_label = "Stride between lanes (4-byte words)", .x_log2 = true, .expected = true},
               "One clock is one wavefront; the dotted line is the model."),
          table(
              "Every pattern", {},
              {"operation", "bits", "pattern", "active lanes", "metric", "expected", "verdict"})}};
  return evaluate(all, entries);
}

}  // namespace fathom::bank_conflicts
