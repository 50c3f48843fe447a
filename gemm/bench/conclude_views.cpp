#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "gemm/bench/conclude.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

/// What the views of one type's ladder have in common.
struct Ladder {
  std::string type, at;  ///< "fp32", "fp32 at 4096³"
  decltype(View::where) where;
  const Entry* top = nullptr;
  std::vector<Library> libraries;

  View view(View::Kind kind, const std::string& title) const {
    View view;
    view.kind = kind;
    view.title = title + at;
    view.section = type;
    view.where = where;
    return view;
  }
};

std::vector<PlotLevel> peaks(const Ladder& ladder) {
  std::vector<PlotLevel> levels;
  const std::optional<Bound>& bound = ladder.top->bound;
  if (!bound || !bound->clock_hz) return levels;
  levels.push_back(
      {bound->value, fmt::format("peak at {}", format_quantity(*bound->clock_hz, "Hz"))});
  const auto clock = sm_clock_of(*ladder.top);
  constexpr double another_clock = 0.01;
  if (clock && *clock < (1 - another_clock) * *bound->clock_hz) {
    levels.push_back({bound->value * *clock / *bound->clock_hz,
                      fmt::format("peak at the top rung's {}", format_quantity(*clock, "Hz"))});
  }
  return levels;
}

std::string label_of(const Library& library) {
  return library.name + (library.sums.empty() ? "" : ", " + library.sums);
}

std::vector<PlotLevel> levels_of(const Ladder& ladder) {
  std::vector<PlotLevel> levels = peaks(ladder);
  for (const Library& library : ladder.libraries)
    levels.push_back({library.throughput, label_of(library)});
  return levels;
}

/// With those that hold a rung against its bound and the library.
std::vector<std::string> compared(std::vector<std::string> columns) {
  for (const char* column : {"of_bound", "of_bound_at_clock", ratio_to_cublas, ratio_to_cublaslt,
                             "sm_clock", "throttle_reasons", "verdict"})
    columns.emplace_back(column);
  return columns;
}

View picture(const Ladder& ladder) {
  View view = ladder.view(View::Kind::plot, "Throughput by rung: ");
  view.note =
      "Burst: each sample is a few launches, with what the card's clock allows in that time.";
  view.x = "rung";
  view.x_label = "Rung";
  view.y_label = "Throughput (FLOP/s)";
  view.show_bound = false;
  view.levels = levels_of(ladder);
  return view;
}

View figures(const Ladder& ladder) {
  View view = ladder.view(View::Kind::table, "The ladder: ");
  view.note = "A ratio is of times taken alternately with the library's";
  view.columns = {"rung", "time", "metric"};
  view.levels = levels_of(ladder);
  if (ladder.libraries.size() == 1) {
    view.note +=
        "; a share of the library is of its median beside the top of the ladder, in the same run.";
    view.columns.push_back("of_level:" + label_of(ladder.libraries.front()));
  } else if (!ladder.libraries.empty()) {
    // The line of another kind of sums is another work's.
    view.note +=
        "; a share of its opponent is of the median beside the rung itself, with the same sums.";
    view.columns.push_back("of_opponent");
  } else {
    view.note += ".";
  }
  view.columns = compared(std::move(view.columns));
  return view;
}

View steps(const Ladder& ladder) {
  View view = ladder.view(View::Kind::steps, "What each rung adds, should gain and gained: ");
  view.note =
      "What it gained is against the rung that it goes on from, which is the one before unless it "
      "is named; counters are those of these that changed most.";
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
  View view = ladder.view(View::Kind::table, "What each rung takes: ");
  view.note =
      "Resources are those of the kernel that multiplied, which for small and skinny products may "
      "be another than at the ladder's size. Tile efficiency is what whole tiles and whole waves "
      "leave of the work paid for, where the rung's own tile ran. Errors are against an fp64 "
      "reference: of the Frobenius norm, and the worst element against what rounding explains.";
  view.columns = {"rung",
                  "note:kernel",
                  "extra:threads_per_block",
                  "extra:registers",
                  "extra:shared_bytes",
                  "extra:resident_warps",
                  "extra:theoretical_occupancy",
                  "counter:achieved_occupancy",
                  "extra:waves",
                  "extra:tile_efficiency",
                  "note:variant",
                  "extra:relative_frobenius_error",
                  "extra:worst_error_of_allowed"};
  return view;
}

View roofline(const Ladder& ladder) {
  constexpr double sector = 32, wavefront = 128;
  View view = ladder.view(View::Kind::roofline, "Roofline: ");
  view.note =
      "A rung's intensity is its FLOP over the bytes that the counters saw at that level; where "
      "they are missing, of DRAM over the least that the product must move.";
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

View contest(const std::string& type) {
  return {.title = "Against the vendor's library: " + type,
          .note = "A ratio above 1 is faster than the library, timed alternately in the same run.",
          .where = {{"part", {"contest", "request"}}, {"type", {type}}},
          .section = type,
          .columns = compared({"rung", "layout", "m", "n", "k", "time", "metric"})};
}

/// For one type, since rungs of different types share names.
View lasting_load(std::span<const Entry> entries, const std::string& type) {
  std::vector<AxisValue> rungs, sizes;
  for (const Entry* entry : select(entries, {{"part", "sustained"}, {"type", type}})) {
    rungs.emplace_back(rung_of(*entry));
    sizes.push_back(*find_axis(*entry, "m"));
  }
  return {
      .title = "In a burst and under lasting load: " + type,
      .note =
          "Sustained: after two seconds of load, eight turns of half a second each, alternately "
          "with the library; joules of one product from step to step of the GPU's energy counter, "
          "which a burst is too short for, and the half width of the median turn's interval as a "
          "share of them. Of a burst no power is told: NVML's readings mix its load with its "
          "rests.",
      .where = {{"part", {"ladder", "contest", "sustained"}},
                {"type", {type}},
                {"m", sizes},
                {"rung", rungs}},
      .section = type,
      .columns = {"rung", "m", "part", "time", "metric", ratio_to_cublas, ratio_to_cublaslt,
                  "extra:joules", "extra:joules_half_width", "extra:joules:cuBLAS",
                  "extra:joules:cuBLASLt, best of 32", "sm_clock", "power", "throttle_reasons",
                  "verdict"}};
}

}  // namespace

std::vector<View> ladder_views(std::span<const Entry> entries) {
  std::vector<View> views;
  const auto add = [&](const Ladder& ladder, bool climbs) {
    if (climbs) {
      for (const auto& view : {picture, figures, steps, roofline}) views.push_back(view(ladder));
    }
    views.push_back(resources(ladder));
  };
  const std::int64_t size = shown_size(entries);
  for (const ClassTraits& row : all_classes()) {
    const auto measured = [&](const char* part) {
      return find_measured(entries, {{"part", part}, {"type", row.name}}) != nullptr;
    };
    if (const auto rungs = ladder_of(entries, row.name, size); !rungs.empty())
      add({row.name,
           fmt::format("{} at {}³", row.name, size),
           {{"part", {"ladder"}}, {"type", {row.name}}, {"m", {size}}},
           best(rungs),
           libraries_among(rungs)},
          true);
    // One rung is no ladder: there is nothing to climb, and its figures are in the tables.
    if (const auto rungs = requested(entries, row.name); !rungs.empty())
      add({row.name,
           fmt::format("{} {}", row.name, product_of(*rungs.front())),
           {{"part", {"request"}}, {"type", {row.name}}},
           best(rungs),
           libraries_among(rungs)},
          rungs.size() > 1);
    if (measured("contest") || measured("request")) views.push_back(contest(row.name));
    if (measured("layouts")) views.push_back(layouts_view(entries, row.name));
    if (measured("sizes")) std::ranges::move(sizes_views(row.name), std::back_inserter(views));
    if (measured("tiles"))
      std::ranges::move(tiles_views(entries, row.name), std::back_inserter(views));
    if (measured("sustained")) views.push_back(lasting_load(entries, row.name));
  }
  return views;
}

}  // namespace fathom::gemm
