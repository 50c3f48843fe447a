#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "gemm/bench/conclude.h"
#include "results/findings.h"
#include "results/text.h"

namespace fathom::gemm {
namespace {

/// Columns of a table: ratios to the library's two ways.
constexpr const char* ratio_to_cublas = "ratio:cuBLAS";
constexpr const char* ratio_to_cublaslt = "ratio:cuBLASLt, best of 32";

std::vector<PlotLevel> peaks(const Ladder& ladder) {
  std::vector<PlotLevel> levels;
  const Entry& top = *best(ladder.rungs);
  if (!top.bound || !top.bound->clock_hz) return levels;
  const double highest = *top.bound->clock_hz;
  levels.push_back({top.bound->value, fmt::format("peak at {}", format_quantity(highest, "Hz"))});
  const auto clock = sm_clock_of(top);
  constexpr double another_clock = 0.01;
  if (clock && *clock < (1 - another_clock) * highest) {
    levels.push_back({top.bound->value * *clock / highest,
                      fmt::format("peak at the top rung's {}", format_quantity(*clock, "Hz"))});
  }
  return levels;
}

/// The faster of the vendor's two ways beside any of these, for each kind of sums.
std::vector<PlotLevel> libraries(const Ladder& ladder) {
  std::vector<PlotLevel> levels;
  for (const std::string sums : {"", "promoted sums", "fast sums"}) {
    const Opponent* fastest = nullptr;
    for (const Entry* rung : ladder.rungs) {
      const Opponent* here = sums_of(*rung) == sums ? fastest_opponent(*rung) : nullptr;
      if (here && (!fastest || *here->value > *fastest->value)) fastest = here;
    }
    if (fastest)
      levels.push_back({*fastest->value, fastest->name + (sums.empty() ? "" : ", " + sums)});
  }
  return levels;
}

/// With those that hold a rung against its bound and the library.
std::vector<std::string> compared(std::vector<std::string> columns) {
  for (const char* column : {"of_bound", "of_bound_at_clock", ratio_to_cublas, ratio_to_cublaslt,
                             "sm_clock", "throttle_reasons", "verdict"})
    columns.emplace_back(column);
  return columns;
}

/// A view of one product's rungs.
View view_of(View::Kind kind, const std::string& title, const Ladder& ladder,
             std::vector<std::string> columns, std::string note) {
  View view = table(fmt::format("{}: {} {}", title, ladder.type, ladder.product), {},
                    std::move(columns), std::move(note));
  for (const auto& [axis, value] : ladder.where) view.where.push_back({axis, {value}});
  view.kind = kind;
  view.section = ladder.type;
  return view;
}

/// A table of all that was measured of a type for these parts.
View table_of(const std::string& title, const std::string& type, std::vector<AxisValue> parts,
              std::vector<std::string> columns, std::string note) {
  View view = table(title + ": " + type, {{"part", std::move(parts)}, {"type", {type}}},
                    std::move(columns), std::move(note));
  view.section = type;
  return view;
}

View picture(const Ladder& ladder) {
  View view = view_of(
      View::Kind::plot, "Throughput by rung", ladder, {},
      "Burst: each sample is a few launches, with what the card's clock allows in that time.");
  view.x = "rung";
  view.x_label = "Rung";
  view.y_label = "Throughput (FLOP/s)";
  view.show_bound = false;
  view.levels = peaks(ladder);
  std::ranges::copy(libraries(ladder), std::back_inserter(view.levels));
  return view;
}

View figures(const Ladder& ladder) {
  View view = view_of(View::Kind::table, "The ladder", ladder, {"rung", "time", "metric"},
                      "A ratio is of times taken alternately with the library's");
  view.levels = picture(ladder).levels;
  if (const auto levels = libraries(ladder); levels.size() == 1) {
    view.note +=
        "; a share of the library is of its median beside the top of the ladder, in the same run";
    view.columns.push_back("of_level:" + levels.front().label);
  } else if (!levels.empty()) {
    // The line of another kind of sums is another work's.
    view.note +=
        "; a share of its opponent is of the median beside the rung itself, with the same sums";
    view.columns.push_back("of_opponent");
  }
  view.note += ".";
  view.columns = compared(std::move(view.columns));
  return view;
}

View steps(const Ladder& ladder) {
  View view = view_of(
      View::Kind::steps, "What each rung adds, should gain and gained", ladder, {},
      "What it gained is against the rung that it goes on from, which is the one before unless it "
      "is named; the two counters that changed most are named.");
  view.x = "rung";
  for (const char* role :
       {"global_load_sectors", "global_load_requests", "shared_load_wavefronts",
        "shared_load_conflicts", "shared_store_conflicts", "l2_read_sectors", "dram_read_bytes",
        "instructions_executed", "issue_active", "tensor_pipe_active", "achieved_occupancy",
        "stall_long_scoreboard", "stall_short_scoreboard", "stall_mio_throttle",
        "stall_lg_throttle", "stall_barrier", "stall_math_pipe_throttle", "stall_gmma"})
    view.columns.push_back(std::string("counter:") + role);
  return view;
}

View resources(const Ladder& ladder) {
  return view_of(
      View::Kind::table, "What each rung takes", ladder,
      {"rung", "note:kernel", "extra:threads_per_block", "extra:registers", "extra:shared_bytes",
       "extra:resident_warps", "extra:theoretical_occupancy", "counter:achieved_occupancy",
       "extra:waves", "extra:tile_efficiency", "note:variant", "extra:relative_frobenius_error",
       "extra:worst_error_of_allowed"},
      "Resources are those of the kernel that multiplied, which for small and skinny products may "
      "be another than at the ladder's size. Tile efficiency is what whole tiles and whole waves "
      "leave of the work paid for, where the rung's own tile ran. Errors are against an fp64 "
      "reference: of the Frobenius norm, and the worst element against what rounding explains.");
}

View roofline(const Ladder& ladder) {
  constexpr double sector = 32, wavefront = 128;
  View view = view_of(
      View::Kind::roofline, "Roofline", ladder, {},
      "A rung's intensity is its FLOP over the bytes that the counters saw at that level; where "
      "they are missing, of DRAM over the least that the product must move.");
  view.x = "rung";
  view.work = "extra:flop";
  view.y_label = "Throughput (FLOP/s)";
  view.levels = peaks(ladder);
  view.memory = {
      {"DRAM",
       "dram_bandwidth",
       {{"counter:dram_read_bytes", 1}, {"counter:dram_write_bytes", 1}},
       {{"extra:compulsory_bytes", 1}}},
      {"L2", "", {{"counter:l2_read_sectors", sector}, {"counter:l2_write_sectors", sector}}, {}}};
  // Tensor cores read shared memory by themselves, and no counter of wavefronts sees that.
  if (ladder.type == traits(Class::fp32).name) {
    view.memory.push_back({"shared memory",
                           "shared_bandwidth",
                           {{"counter:shared_load_wavefronts", wavefront},
                            {"counter:shared_store_wavefronts", wavefront}},
                           {}});
  }
  return view;
}

/// Lets in only what has one of the values that the part's entries have of this axis.
void keep_those_of(const char* part, const char* axis, std::span<const Entry> entries, View& view) {
  auto& values = view.where.emplace_back(axis, std::vector<AxisValue>{}).second;
  for (const Entry* entry : select(entries, {{"part", part}, {"type", view.section}}))
    values.push_back(*find_axis(*entry, axis));
}

View layouts(std::span<const Entry> entries, const std::string& type) {
  // The ladder's own layout among them.
  View view = table_of(
      "In each layout", type, {"ladder", "layouts"},
      {"rung", "layout", "time", "metric", "of_bound", "of_bound_at_clock", ratio_to_cublas,
       ratio_to_cublaslt, "extra:own_path", "verdict"},
      "First op(A), then op(B): T is transposed. An own path of 0 is a slower one, such as a copy "
      "before the product, inside the time. No ratio: the library does not take the layout.");
  view.where.push_back({"m", {ladder_size}});
  keep_those_of("layouts", "rung", entries, view);
  return view;
}

View lasting_load(std::span<const Entry> entries, const std::string& type) {
  View view = table_of(
      "In a burst and under lasting load", type, {"ladder", "contest", "sustained"},
      {"rung", "m", "part", "time", "metric", ratio_to_cublas, ratio_to_cublaslt, "extra:joules",
       "extra:joules_half_width", "extra:joules:cuBLAS", "extra:joules:cuBLASLt, best of 32",
       "sm_clock", "power", "throttle_reasons", "verdict"},
      "Sustained: after two seconds of load, eight turns of half a second each, alternately with "
      "the library; joules of one product from step to step of the GPU's energy counter, which a "
      "burst is too short for, and the half width of the median turn's interval as a share of "
      "them. A burst has no power: NVML's readings mix its load with its rests.");
  keep_those_of("sustained", "m", entries, view);
  keep_those_of("sustained", "rung", entries, view);
  return view;
}

/// A curve over m of the top rung and the library.
View curve(const std::string& title, const char* part, const std::string& type, std::string y_label,
           const PlotStyle& style, std::string note) {
  View view = plot(title + ": " + type, {{"part", {part}}, {"type", {type}}}, "m",
                   std::move(y_label), {"rung"}, style, std::move(note));
  view.section = type;
  view.show_opponents = true;
  return view;
}

/// What each of its points took, at what clock.
View figures_of(const std::string& title, const char* part, const std::string& type,
                const std::string& note = "") {
  return table_of(
      title, type, {part},
      {"m", "time", "metric", "of_bound", "of_bound_at_clock", "sm_clock", "throttle_reasons",
       "extra:waves", "extra:tile_efficiency", ratio_to_cublas, ratio_to_cublaslt,
       std::string("note:") + kernel_note, "verdict"},
      note +
          "Timed without rests, rung and library in turn, at the clock that power left both. "
          "Where throughput falls and the share of the bound at that clock does not, it is the "
          "clock and not the kernel.");
}

View tiles(std::span<const Entry> entries, const std::string& type) {
  View view = curve(
      "Throughput a cycle around multiples of the tile", "tiles", type, "Throughput",
      {.y = "metric_per_cycle", .expected = true},
      "n = k = 4096, m at each multiple of 256, just past it and halfway to the next. The grey "
      "bands are the model: what whole waves of whole tiles take, at the median speed of the "
      "kernel that ran (claim T2), in cycles of the SM clock, which was measured of rung and "
      "library together.");
  view.y_from_zero = false;
  view.stretches = saw_tooth(entries, type);
  return view;
}

}  // namespace

std::vector<View> ladder_views(std::span<const Entry> entries) {
  std::vector<View> views;
  const std::vector<Ladder> ladders = ladders_of(entries);
  for (const ClassTraits& row : all_classes()) {
    const std::string type = row.name;
    const auto measured = [&](const char* part) {
      return find_measured(entries, {{"part", part}, {"type", type}}) != nullptr;
    };
    for (const Ladder& ladder : ladders) {
      if (ladder.type != type) continue;
      // One rung is no ladder: there is nothing to climb, and its figures are in the tables.
      if (!ladder.requested || ladder.rungs.size() > 1)
        for (const auto& view : {picture, figures, steps, roofline}) views.push_back(view(ladder));
      views.push_back(resources(ladder));
    }
    if (measured("contest") || measured("request"))
      views.push_back(table_of(
          "Against the vendor's library", type, {"contest", "request"},
          compared({"rung", "layout", "m", "n", "k", "time", "metric"}),
          "A ratio above 1 is faster than the library, timed alternately in the same run."));
    if (measured("layouts")) views.push_back(layouts(entries, type));
    if (measured("sizes")) {
      views.push_back(
          curve("Throughput by size", "sizes", type, "Throughput (FLOP/s)",
                {.x_label = "m = n = k", .x_log2 = true, .bound = true, .expected = true},
                "The top rung and the library as it is called by default, m = n = k."));
      views.push_back(figures_of("Throughput by size, in figures", "sizes", type));
    }
    if (measured("tiles")) {
      views.push_back(tiles(entries, type));
      views.push_back(figures_of("What whole tiles and waves cost", "tiles", type,
                                 "Tile efficiency is the share of whole waves of whole tiles that "
                                 "the product fills. "));
    }
    if (measured("sustained")) views.push_back(lasting_load(entries, type));
  }
  return views;
}

}  // namespace fathom::gemm
