#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "gemm/bench/conclude.h"
#include "results/findings.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::gemm {

// What is claimed of the fp32 ladders' traffic, and of what it makes warps wait for.

namespace {

/// Elements that the first kernel asks for, 32 lanes of 4 bytes a request, against both operands
/// anew for each multiplication, the most that any kernel should; and the least that a rung moves.
ClaimRow worst_traffic() {
  constexpr double size = ladder_size, element = 4, lanes = 32;
  constexpr double worst = 2 * size * size * size * element, exact = 0.01;
  const auto loads = [](const Entry& e) {
    return lanes * element * counter_of("global_load_requests")(e);
  };
  const auto moved = [](const Entry& e) {
    return counter_of("dram_read_bytes")(e) + counter_of("dram_write_bytes")(e);
  };
  Quantity most = rung_at_size("most", "row_major/01_naive", "fp32", loads);
  most.unit = "B";
  return {
      "GT2",
      {},
      "A product's traffic is between A, B and C once (read and written) and 2 m n k elements",
      "4092³: 268 MB to 548 GB",
      {most, {"least", at_size("fp32", ladder_size), Pick::least, moved, "B", is_measured}},
      {{"most", (1 - exact) * worst, (1 + exact) * worst},
       {"least", 3 * size * size * element, worst}},
      fmt::format("[at {}³ row_major/01_naive asks for {{most}}, and 2 m n k elements are {}][; "
                  "least moves at DRAM by {{least rung}}, {{least}}, and A, B and C once (this C "
                  "is not read) are {}]",
                  ladder_size, format_quantity(worst, "B"),
                  format_quantity(3 * size * size * element, "B"))};
}

/// What a lesson reads over what the library does: of device memory and of shared memory.
ClaimRow against_library(const char* id, const char* statement, const char* claimed, double factor,
                         const char* rung) {
  const auto counted = [](const char* role) {
    return Quantity{role,
                    {{"part", claimed_part}, {"type", "fp32"}, {"rung", library_alone}},
                    Pick::first,
                    [role](const Entry& e) {  // nought: nothing was counted
                      const double count = counter_of(role)(e);
                      return count > 0 ? count : std::numeric_limits<double>::quiet_NaN();
                    }};
  };
  const char* const of_dram = "rung dram_read_bytes/dram_read_bytes";
  const char* const of_shared = "rung shared_load_wavefronts/shared_load_wavefronts";
  return {
      id,
      {},
      statement,
      claimed,
      {rung_at_size("rung", rung), counted("dram_read_bytes"), counted("shared_load_wavefronts")},
      {about(of_dram, factor), about(of_shared, factor)},
      fmt::format("[{{{}:.1f}} x of device memory][, {{{}:.1f}} x the wavefronts of shared memory]",
                  of_dram, of_shared),
      Rule::cases};
}

/// Stalls for room in the queues of memory instructions.
ClaimRow throttle_falls() {
  const auto stalls = [](const Entry& e) {
    return counter_of("stall_lg_throttle")(e) + counter_of("stall_mio_throttle")(e);
  };
  return {"GC11",
          {},
          "Memory-pipe throttle stalls fall from the naive kernel to shared memory",
          "they fall",
          {rung_at_size("naive", "column_major/01_naive", "fp32", stalls),
           rung_at_size("shared", "column_major/02_shared_memory", "fp32", stalls)},
          {{"shared/naive", 0, below_one}},
          "[warps per issue that wait there: column_major/01_naive {naive:.2f}, "
          "column_major/02_shared_memory {shared:.2f}]"};
}

/// What the blocks of tiled rungs read, against 2 m n k / tile elements (with equal sides).
ClaimRow blocks_read_again() {
  const auto share = [](const Entry& e) {
    return counter_of("global_load_sectors")(e) / extra_of("tile_read_sectors")(e);
  };
  return {"GT1",
          {},
          "Every block re-reads its operands: global traffic is m n k (1 / tile rows + 1 "
          "/ tile columns) elements",
          "2 m n k / tile elements",
          {{"products", {}, Pick::count, share},
           {"least", {}, Pick::least, share},
           {"most", {}, Pick::most, share}},
          {{"least", 0.99}, {"most", 0, 1.01}},
          "[{products:.0f} products by tiled rungs read {least:.3f} to {most:.3f} x that "
          "traffic, in sectors]"};
}

}  // namespace

std::vector<ClaimRow> traffic_claims() {
  return {blocks_read_again(), worst_traffic(),
          against_library("GC10",
                          "The shuffle-broadcast naive kernel reads 20 times what the library "
                          "does, of device memory and of shared memory",
                          "20 x", 20, "column_major/01_naive"),
          throttle_falls(),
          against_library("GC12", "The 64 tile reads 1.6 times what the library does", "1.6 x", 1.6,
                          "column_major/04_tile_64")};
}

// Products around multiples of a tile, and what those pay whose size just passes one (claim T2).

namespace {

/// One of a type's products around multiples of a tile, and what a model makes of it: a product
/// pays for whole tiles in whole waves, each kernel at its own speed (the median of its entries).
struct Point {
  const Entry* entry;
  double m, flop;
  double paid;  ///< FLOP that whole tiles in whole waves could do
  /// Time by the samples' SM clock: power leaves neighbours different ones.
  double cycles;
  std::string kernel;   ///< empty where the entry does not say
  double modelled = 0;  ///< cycles
};

/// By m, those with figure, clock and model.
std::vector<Point> points_of(std::span<const Entry> entries, const std::string& type) {
  std::vector<Point> points;
  std::map<std::string, std::vector<double>> cycles_per_flop;  // by kernel
  for (const Entry* entry : select(entries, {{"part", "tiles"}, {"type", type}})) {
    const auto note = entry->notes.find(kernel_note);
    const double flop = extra_of("flop")(*entry);
    const Point point{entry,
                      axis_of("m")(*entry),
                      flop,
                      flop / extra_of("tile_efficiency")(*entry),
                      entry->real_time_s * entry->timing.sm_clock_hz.value_or(0),
                      note == entry->notes.end() ? "" : note->second};
    if (!is_measured(*entry) || !(point.m > 0 && flop > 0 && point.paid > 0 && point.cycles > 0) ||
        !std::isfinite(point.paid))
      continue;
    cycles_per_flop[point.kernel].push_back(point.cycles / point.paid);
    points.push_back(point);
  }
  std::ranges::sort(points, {}, &Point::m);
  for (Point& point : points) point.modelled = point.paid * median(cycles_per_flop[point.kernel]);
  return points;
}

/// Whether both are known to have run one and the same kernel.
bool same_kernel(const Point& a, const Point& b) {
  return !a.kernel.empty() && !a.kernel.starts_with("unknown: ") && a.kernel == b.kernel;
}

/// Sizes this close stand for "just past": their own work differs by about half a percent.
constexpr double just_past = 32;
/// Jumps of the model below this would be lost in the noise of a curve.
constexpr double least_jump = 1.05;
/// A product pays for a step if what it takes jumps by at least this share of what the model says.
constexpr double paid_share = 0.5;
constexpr const char* cause = "the kernel changes or is not known";

/// What a type says of the claim.
struct Answer {
  std::string words;               ///< empty: its model has no step
  double paid = 0;                 ///< share of the model's jump that half of them exceed
  std::vector<const Entry*> at{};  ///< the largest jump, before and after; empty: none counts
};

Answer answer_of(const std::vector<Point>& points) {
  // A few jumps that something else disturbed do not decide: the median of shares does.
  std::vector<double> paid;
  const Point *before = nullptr, *after = nullptr;  // the largest of these jumps
  double largest_step = 1;                          // of the model, whatever its size
  int left_out = 0;                                 // where the kernel changes or is not known
  double farthest = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    farthest = std::max(farthest, std::abs(points[i].cycles / points[i].modelled - 1));
    if (i == 0 || points[i].m - points[i - 1].m > just_past) continue;
    const Point &a = points[i - 1], &b = points[i];
    const double model = b.paid / a.paid;
    largest_step = std::max(largest_step, model);
    if (model < least_jump) continue;
    if (!same_kernel(a, b)) {
      ++left_out;
      continue;
    }
    paid.push_back((b.cycles / a.cycles - 1) / (model - 1));
    if (before == nullptr || model > after->paid / before->paid) before = &a, after = &b;
  }
  if (largest_step == 1) return {};
  if (paid.empty()) {
    return {left_out > 0
                ? fmt::format("is left out: where its model jumps, {}", cause)
                : fmt::format("is left out: no jump of its model reaches {:.2f} x (the largest is "
                              "{:.3f} x)",
                              least_jump, largest_step)};
  }
  return {
      fmt::format("by {} (from m = {:.0f} to {:.0f} its cycles grow {:.3f} x, what whole waves "
                  "of whole tiles take {:.3f} x{}), all {} sizes within {} of the model",
                  counted(paid.size(), "jump"), before->m, after->m, after->cycles / before->cycles,
                  after->paid / before->paid,
                  left_out > 0 ? fmt::format("; {} more left out, where {}", left_out, cause) : "",
                  points.size(), format_percent(farthest)),
      median(paid),
      {before->entry, after->entry}};
}

}  // namespace

/// Between two steps it grows with m, and another kernel is another tooth.
std::vector<PlotStretch> saw_tooth(std::span<const Entry> entries, const std::string& type) {
  const std::vector<Point> points = points_of(entries, type);
  std::vector<PlotStretch> teeth;
  for (std::size_t i = 0, end; i < points.size(); i = end) {
    const Point& first = points[i];
    for (end = i + 1; end < points.size(); ++end) {
      // Up to rounding.
      const bool as_many_waves = std::abs(points[end].paid / first.paid - 1) < 1e-9;
      if (!as_many_waves || !same_kernel(points[end], first)) break;
    }
    const Point& last = points[end - 1];
    if (end - i > 1)
      teeth.push_back(
          {first.m, first.flop / first.modelled, last.m, last.flop / last.modelled, ""});
  }
  return teeth;
}

/// The shares of all types come first: a page may have no room for more.
ClaimRow tile_claim(std::span<const Entry> entries) {
  ClaimRow claim{.id = "T2",
                 .statement =
                     "Tile quantisation does the same to a matrix product whose size just passes a "
                     "tile multiple",
                 .claimed = "sweep of m around multiples of the tile"};
  std::string details;
  for (const ClassTraits& row : all_classes()) {
    const Answer answer = answer_of(points_of(entries, row.name));
    if (answer.words.empty()) continue;
    details += fmt::format("; {} {}", row.name, answer.words);
    if (answer.at.empty()) continue;
    for (const Entry* entry : answer.at)
      claim.reading.push_back(
          {entry->name, {}, Pick::first, metric_of, "", [name = entry->name](const Entry& e) {
             return e.name == name;
           }});
    claim.reading.push_back(
        formula(row.name, [paid = answer.paid](const Figures&) { return paid; }));
    claim.checks.push_back({row.name, paid_share});
    claim.sentence +=
        fmt::format("{} {} {{{}:.0f%}}", claim.sentence.empty() ? "paid of the model's jump:" : ",",
                    row.name, row.name);
  }
  if (!claim.checks.empty()) {
    claim.sentence += details;
  } else if (!details.empty()) {
    claim.checks = {{"share"}};
    claim.missing = details.substr(2);
  }
  return claim;
}

}  // namespace fathom::gemm
