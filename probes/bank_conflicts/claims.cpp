#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/claims.h"
#include "results/rows.h"

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
      return (*value - e.extras.at("filling_stores")) / e.extras.at("accesses");
  return metric_of(e);
}

/// What the claims say of the entry's pattern.
double claimed(const Entry& e) { return e.extras.at("claimed_wavefronts"); }

bool as_claimed(const Entry& e) {
  return is_counted(e) ? wavefronts(e) == claimed(e)
                       : std::abs(wavefronts(e) / claimed(e) - 1) <= clock_tolerance;
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

/// A claim about patterns, and some of them whose clocks it shows.
struct Row {
  const char *id, *statement, *claimed;
  bool (*covers)(const Entry&);
  I bits;
  std::vector<std::pair<const char*, const char*>> shown;
};

bool has_bits(const Entry& e, I bits) { return matches(e, {{"bits", bits}}); }
/// S4 speaks of lanes whose partner is inactive too.
bool is_merging(const Entry& e) {
  return matches(e, {{"family", "pairs"}}) || matches(e, {{"family", "broadcast"}}) ||
         matches(e, {{"pattern", "inactive:even-lanes-active"}}) ||
         matches(e, {{"pattern", "inactive:one-lane-active"}});
}

const Row rows[] = {
    {"S2",
     "32-bit accesses: one wavefront per distinct word in the busiest bank; equal words "
     "broadcast",
     "stride 2: 2, stride 32: 32",
     [](const Entry& e) { return has_bits(e, 32); },
     32,
     {{"stride 2", "stride:2"}, {"stride 32", "stride:32"}, {"broadcast", "broadcast"}}},
    {"S3",
     "64-bit accesses go half-warp by half-warp: two wavefronts",
     "float2, double: 2",
     [](const Entry& e) { return has_bits(e, 64) && !is_merging(e); },
     64,
     {{"contiguous", "stride:2"}, {"half the lanes", "inactive:lower-half-active"}}},
    {"S4",
     "... merged into one when for every active lane i of the warp lane i^1 is inactive or "
     "agrees on the address, or i^2 is or does",
     "one wavefront",
     [](const Entry& e) { return has_bits(e, 64) && is_merging(e); },
     64,
     {{"pairs i^1", "pairs:i^1"}, {"i^2", "pairs:i^2"}, {"i^4", "pairs:i^4"}}},
    {"S5",
     "128-bit accesses go quarter-warp by quarter-warp; under S4's condition over the whole warp "
     "the quarters of each half merge; the halves never merge",
     "4, or 2",
     [](const Entry& e) { return has_bits(e, 128); },
     128,
     {{"contiguous", "stride:4"},
      {"pairs i^1", "pairs:i^1"},
      {"i^1 in one half", "pairs:i^1-in-lower-half"},
      {"broadcast", "broadcast"}}},
    {"S8",
     "Padding a row by one element, or an XOR swizzle, removes the conflicts of column access",
     "padded, swizzled, plain",
     [](const Entry& e) {
       return matches(e, {{"family", "column"}});
     },
     32,
     {{"plain", "column:plain"}, {"padded", "column:padded"}, {"swizzled", "column:swizzled"}}}};

/// The sources speak of loads; stores get a row of their own.
ClaimRow patterns_row(const Row& row, const std::string& operation) {
  const bool loads = operation == "load";
  const AxisFilter where{{"operation", operation}};
  const auto covered = [=](const Entry& e) { return e.metric.value && row.covers(e); };
  const auto sum = [&](const char* name, bool (*test)(const Entry&)) {
    return Quantity{name, where, Pick::sum, passes(test), "", covered};
  };
  ClaimRow claim{
      row.id + std::string(loads ? "" : " (stores)"),
      row.statement,
      loads ? row.claimed : "not claimed for stores",
      double_products,
      {{sum("right", as_claimed),
        sum("counted", is_counted),
        {"patterns", where, Pick::count, metric_of, "", covered},
        {"other", where, Pick::first, wavefronts, "",
         [=](const Entry& e) { return covered(e) && !as_claimed(e); }},
        {"instead", where, Pick::first, claimed, "",
         [=](const Entry& e) { return covered(e) && !as_claimed(e); }}},
       {ratio("share", "right", "patterns")}},
      {{"share", 1, 1}},
      "{right:.0f} of {patterns:.0f} patterns cost the wavefronts claimed ({counted:.0f} by "
      "counter)[; {other pattern} takes {other:.3g} instead of {instead:.0f}]; clocks"};
  for (const auto& [label, name] : row.shown) {
    claim.reading.quantities.push_back({label, pattern(operation, row.bits, name)});
    claim.sentence += fmt::format("{} {} {{{}:.2f}}",
                                  claim.sentence.ends_with("clocks") ? ":" : ",", label, label);
  }
  return claim;
}

ClaimRow s1() {
  const auto conflict_free = [](const Entry& e) {
    const I words = static_cast<I>(axis_of("bits")(e)) / 32;
    return matches(e, {{"pattern", "stride:" + std::to_string(words)}});
  };
  const Figure bytes = [](const Entry& e) {
    return extra_of("useful_bytes_per_access")(e) / metric_of(e);
  };
  const auto quantity = [&](const char* name, Pick pick) {
    return Quantity{name, {}, pick, bytes, "", conflict_free};
  };
  return {"S1",
          "32 banks of 4 bytes: 128 bytes per clock and SM",
          "bandwidth at conflict-free stride",
          double_products,
          {{quantity("accesses", Pick::count), quantity("least", Pick::least),
            quantity("most", Pick::most)}},
          {{"least", 128 * (1 - clock_tolerance)}, {"most", 0, 128}},
          "{least:.1f} to {most:.1f} bytes per clock and SM over {accesses:.0f} conflict-free "
          "accesses"};
}

ClaimRow s6() {
  const auto consecutive = [](const Entry& e) {  // the second and third with lanes left out
    return matches(e, {{"pattern", "stride:2"}}) ||
           matches(e, {{"pattern", "inactive:lower-half-active"}}) ||
           matches(e, {{"pattern", "inactive:quarters-0-2-active"}});
  };
  const auto conflicts = [=](const std::string& operation) {
    return Quantity{operation,  {{"operation", operation}, {"bits", I{64}}},
                    Pick::most, counter_of("shared_" + operation + "_conflicts"),
                    "",         consecutive};
  };
  return {"S6",
          "A conflict is counted per wavefront, not per warp: 64 distinct consecutive words by "
          "float2 are no conflict",
          "zero conflicts",
          double_products,
          {{conflicts("load"), conflicts("store")}},
          {{"load", 0, 0}, {"store", 0, 0}},
          "[loads: {load:.0f} conflicts][, stores: {store:.0f} conflicts]",
          Rule::those_measured};
}

std::vector<View> views() {
  return {{.kind = View::Kind::plot,
           .title = "Clocks per access against stride",
           .note = "One clock is one wavefront; the dotted line is the model.",
           .where = {{"family", {"stride"}}},
           .x = "stride (words)",
           .x_label = "Stride between lanes (4-byte words)",
           .y_label = "Clocks per warp access",
           .x_log2 = true,
           .series = {"operation", "bits"},
           .show_bound = false},
          {.title = "Every pattern",
           .columns = {"operation", "bits", "pattern", "active lanes", "metric", "expected",
                       "verdict"}}};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions conclusions = [] {
    Conclusions all{.claims = {s1()},
                    .reading = {{{"32", pattern("load", 32, "stride:1")},
                                 {"64", pattern("load", 64, "stride:2")},
                                 {"128", pattern("load", 128, "stride:4")},
                                 {"good",
                                  {},
                                  Pick::sum,
                                  passes(as_modelled),
                                  "",
                                  [](const Entry& e) { return e.metric.value.has_value(); }},
                                 {"measured", {}, Pick::count}}},
                    .answer =
                        "A conflict-free 32-, 64- and 128-bit access costs {32:.2f}, {64:.2f} and "
                        "{128:.2f} clocks of the SM's data pipe; {good:.0f} of {measured:.0f} "
                        "patterns cost exactly what the model predicts.",
                    .views = views()};
    for (const Row& row : rows) all.claims.push_back(patterns_row(row, "load"));
    all.claims.push_back(s6());
    for (const Row& row : rows) all.claims.push_back(patterns_row(row, "store"));
    return all;
  }();
  return evaluate(conclusions, entries);
}

}  // namespace fathom::bank_conflicts
