// The page of a probe of its own, and what the matrix-product ladder asks of it.

#include <fmt/format.h>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>
#include <utility>

#include "reports/columns.h"
#include "reports/plot.h"
#include "reports/plot_data.h"
#include "reports/plot_ladder.h"
#include "reports/plot_roofline.h"
#include "reports/plot_script.h"
#include "reports/plot_text.h"
#include "reports/roofline.h"
#include "results/query.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_ladder.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

std::string ladder_of(const Document& document) {
  const ReportFolder folder;
  const EmptyPath no_gnuplot;
  const ReportPaths paths = write_report(document, folder.path());
  return paths.pages.empty() ? "" : file_text(paths.pages.front());
}

const View& view_of(const Document& d, View::Kind kind, const std::string& title) {
  for (const View& view : d.probes.front().views) {
    if (view.kind == kind && view.title.find(title) != std::string::npos) return view;
  }
  throw std::out_of_range("no view " + title);
}

/// Of an entry alone.
std::string cell(const std::string& column, const Entry& entry, const std::vector<PlotLevel>& levels = {}) {
  return reports::make_column(column, {&entry}, levels).cells.front();
}

}  // namespace

TEST_CASE("Views with a section stand on the probe's own page, the others in the report", "[reports]") {
  Document d = sample::ladder_document();
  const ReportFolder folder;
  const EmptyPath no_gnuplot;
  const ReportPaths paths = write_report(d, folder.path());
  REQUIRE(paths.pages.size() == 1);
  CHECK(paths.pages.front() == folder.path() / "ladder.md");
  const std::string readme = file_text(paths.readme), page = file_text(paths.pages.front());
  CHECK_THAT(readme, ContainsSubstring("[The matrix-product ladder](ladder.md)") &&
                         !ContainsSubstring("Against the vendor's library") &&
                         !ContainsSubstring("The ladder: fp32"));
  CHECK_THAT(page, ContainsSubstring("## fp32\n") && ContainsSubstring("## bf16\n") &&
                       ContainsSubstring("The ladder: fp32 at 4096 cubed") &&
                       ContainsSubstring("Against the vendor's library: fp32") &&
                       ContainsSubstring("Against the vendor's library: bf16") &&
                       ContainsSubstring("Throughput by size, in figures: bf16") &&
                       ContainsSubstring("**Note:** Tuned") &&
                       ContainsSubstring("nvjet_hsh_256x128") && ContainsSubstring("## Claims"));

  // A page without a name, or without a view for it, is none; names of the report's own are not taken.
  d.probes.front().page = "atlas";
  const ReportFolder other;
  CHECK(write_report(d, other.path()).pages.front() == other.path() / "gemm-atlas.md");
  d.probes.front().page.clear();
  CHECK(ladder_of(d).empty());
  CHECK_THAT(page_of(d), ContainsSubstring("The ladder: fp32 at 4096 cubed"));
  d = sample::ladder_document();
  d.entries.clear();
  CHECK(ladder_of(d).empty());
}

TEST_CASE("Every heading and caption of a replayed ladder says so", "[reports]") {
  Document d = sample::ladder_document();
  d.source = Source::replay;
  std::istringstream page(ladder_of(d));
  int marked = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("#") && !line.starts_with("<summary>")) continue;
    CHECK_THAT(line, ContainsSubstring("REPLAY"));
    ++marked;
  }
  CHECK(marked > 8);
}

TEST_CASE("Each step is held against the one before, by what changed most", "[reports]") {
  const std::string page = ladder_of(sample::ladder_document());
  CHECK_THAT(page, ContainsSubstring("| 02_coalesced | Lanes along a row of C. | A warp's loads of B become four sectors "
                                     "instead of 32. | **3.1 TFLOP/s**, **6.89 ×** the one before<br>"));
  CHECK_THAT(page, ContainsSubstring("global load sectors ÷ 6.76 (73 G → 10.8 G)"));
  // A rung whose counters are missing explains nothing, and neither does the one after it.
  CHECK_THAT(page, ContainsSubstring("**0.71 ×** the one before |") && ContainsSubstring("**2.68 ×** the one before |"));
  CHECK_THAT(page, ContainsSubstring("shared load conflicts 0 → 670 M"));

  // A rung without a figure says why, and the next is held against the last that has one.
  Document d = sample::ladder_document();
  d.entries[1].metric.value.reset();
  d.entries[1].verdict.status = VerdictStatus::wrong_output;
  CHECK_THAT(ladder_of(d), ContainsSubstring("nothing measured: wrong output |") &&
                               ContainsSubstring("**4.89 ×** the one before"));
}

TEST_CASE("Columns say shares of levels, of the bound at the measured clock, and words", "[reports]") {
  Entry e = sample::product_entry("ladder", "fp32", "01_naive", 64, 64, 64, 30, 60);
  const std::vector<PlotLevel> levels{{40e12, "cuBLAS"}};
  const double value = *e.metric.value;
  CHECK(cell("of_level:cuBLAS", e, levels) == fmt::format("{:.1f}", 100 * value / 40e12));
  CHECK(cell("of_level:another", e, levels) == "–");
  CHECK(cell("of_bound", e) == fmt::format("{:.1f}", 100 * value / 60e12));
  e.telemetry.sm_clock_hz.median = 990e6;  // half of the bound's
  CHECK(cell("of_bound_at_clock", e) == fmt::format("{:.1f}", 200 * value / 60e12));
  CHECK(cell("sm_clock", e) == "990");
  e.timing.sm_clock_hz = 660e6;  // what the samples themselves ran at says more
  CHECK(cell("of_bound_at_clock", e) == fmt::format("{:.1f}", 300 * value / 60e12));
  CHECK(cell("sm_clock", e) == "660");
  const std::optional<double> highest = std::exchange(e.bound->clock_hz, std::nullopt);
  CHECK(cell("of_bound_at_clock", e) == "–");
  e.telemetry.throttle_reasons = {"applications_clocks_setting"};
  CHECK(cell("throttle_reasons", e) == "none");
  e.telemetry.throttle_reasons = {"sw_power_cap"};
  CHECK(cell("throttle_reasons", e) == "sw power cap");
  // A clock that the SMs' own counters saw below the highest, NVML need not have seen held down.
  e.bound->clock_hz = highest;
  CHECK(cell("throttle_reasons", e) == "sw power cap");
  e.telemetry.throttle_reasons.clear();
  CHECK(cell("throttle_reasons", e) == "not seen by NVML");
  e.telemetry.throttle_reasons = {"applications_clocks_setting"};
  CHECK(cell("throttle_reasons", e) == "applications clocks setting");
  e.timing.sm_clock_hz = 0.98 * *highest;
  CHECK(cell("throttle_reasons", e) == "none");
  e.timing.sm_clock_hz.reset();  // NVML's own reading of it says nothing against NVML's reasons
  CHECK(cell("throttle_reasons", e) == "none");
  e.telemetry.missing_reason = "no NVML";
  CHECK(cell("throttle_reasons", e) == "–");
  CHECK(cell("note:variant", e) == "–");
  e.notes["variant"] = "a | b";
  CHECK(cell("note:variant", e) == "a &#124; b");
  e.real_time_s = 0;
  CHECK(cell("time", e) == "–");
}

TEST_CASE("Shares of an opponent are of the entry's own, and power is not a burst's", "[reports]") {
  Entry e = sample::product_entry("ladder", "fp32", "01_naive", 64, 64, 64, 30, 60);
  CHECK(cell("of_opponent", e) == "–");
  const double value = *e.metric.value;
  e.opponents = {sample::sample_opponent("cuBLAS", e, 0.5, ""),
                 sample::sample_opponent("another", e, 2, "")};
  CHECK(cell("of_opponent", e) == fmt::format("{:.1f}", 100 * value / *e.opponents[1].value));
  e.metric.better = Better::lower;
  CHECK(cell("of_opponent", e) == fmt::format("{:.1f}", 100 * *e.opponents[0].value / value));
  e.telemetry.power_w.median = 450;
  CHECK(cell("power", e) == "–");
  e.timing.rest = 0;
  CHECK(cell("power", e) == "450");
}

TEST_CASE("A rate per cycle is the metric by the measured clock, of opponents too", "[reports]") {
  Document d = sample::ladder_document();
  View view = view_of(d, View::Kind::plot, "around multiples of the tile: fp32");
  view.y = "metric_per_cycle";
  std::vector<Entry> tiles;
  for (const Entry& e : d.entries) {
    if (matches(e, view)) tiles.push_back(e);
  }
  for (Entry& e : tiles) e.timing.sm_clock_hz = 1e9;
  const auto data = plots::collect(view, tiles);
  REQUIRE(data);
  REQUIRE(data->series.size() == 2);
  CHECK(data->y_label == "Throughput (FLOP/cycle)");
  CHECK_THAT(data->series[0].points[0].y, WithinRel(*tiles[0].metric.value / 1e9, 1e-9));
  CHECK_FALSE(
      data->series[0].points[0].high);  // of the time, whose samples had clocks of their own
  CHECK_THAT(data->series[1].points[0].y, WithinRel(*tiles[0].opponents[0].value / 1e9, 1e-9));
  // The bound is per cycle of the clock that it holds at.
  view.show_bound = true;
  CHECK_THAT(*plots::collect(view, tiles)->bound, WithinRel(66.9e12 / 1980e6, 1e-9));
  for (Entry& e : tiles) {
    e.timing.sm_clock_hz.reset();
    e.telemetry.sm_clock_hz = {};
  }
  CHECK_FALSE(plots::collect(view, tiles));
}

TEST_CASE("Levels are lines across, and one far above the data is only named", "[reports]") {
  const Document d = sample::ladder_document();
  View view = view_of(d, View::Kind::plot, "Throughput by rung: fp32");
  auto data = plots::collect(view, d.entries);
  REQUIRE(data);
  REQUIRE(data->levels.size() == 2);
  CHECK(data->levels[0].y < data->levels[1].y);
  CHECK_THAT(data->levels[1].label, ContainsSubstring("peak at 1.98 GHz: 66.9 TFLOP/s"));
  CHECK(data->y.high >= 66.9);
  CHECK(plots::reads_as_ladder(*data));
  CHECK_THAT(plots::ladder_script(*data, plots::light_theme(), Source::measured), ContainsSubstring("to first 66.9"));
  view.levels.push_back({1e15, "far"});
  data = plots::collect(view, d.entries);
  CHECK(data->levels.size() == 2);
  CHECK_THAT(data->beyond, ContainsSubstring("far: 1 PFLOP/s"));
  CHECK(data->y.high < 100);
}

TEST_CASE("Opponents are lines of their own, under the one bound", "[reports]") {
  const Document d = sample::ladder_document();
  const View& view = view_of(d, View::Kind::plot, "Throughput by size: fp32");
  const auto data = plots::collect(view, d.entries);
  REQUIRE(data);
  REQUIRE(data->series.size() == 2);
  CHECK(data->series[1].label == "cuBLAS");
  CHECK(data->series[1].points.size() == data->series[0].points.size());
  REQUIRE(data->bound);
  CHECK_THAT(*data->bound, WithinRel(66.9, 1e-9));
  View without = view;
  without.show_opponents = false;
  CHECK(plots::collect(without, d.entries)->series.size() == 1);
}

TEST_CASE("A kernel's place under the roofs follows from what the counters saw", "[reports]") {
  const Document d = sample::ladder_document();
  const View& view = view_of(d, View::Kind::roofline, "fp32");
  std::vector<const Entry*> shown;
  for (const Entry& e : d.entries) {
    if (matches(e, view)) shown.push_back(&e);
  }
  const auto rows = reports::roofline_rows(view, shown, d.bounds);
  REQUIRE(rows.size() == sample::sample_fp32().size());
  const double flop = 2.0 * 4096 * 4096 * 4096;
  const reports::RooflineRow& tile = rows[3];  // 04_shared_memory
  REQUIRE(tile.levels.size() == 3);
  REQUIRE(tile.levels[2]);
  CHECK_THAT(tile.levels[2]->intensity, WithinRel(flop / (128 * 2.7e9 * 1.125), 1e-9));
  CHECK(tile.levels[2]->counted);
  CHECK(tile.bound_by == "shared memory");
  CHECK_THAT(*tile.attainable, WithinRel(33.45e12 * tile.levels[2]->intensity, 1e-9));
  CHECK_FALSE(rows[0].levels[2]);  // uses no shared memory
  // Without counters: DRAM by the least that must move, nothing of the others.
  REQUIRE(rows[2].levels[0]);
  CHECK_FALSE(rows[2].levels[0]->counted);
  CHECK_THAT(rows[2].levels[0]->bytes, WithinRel(3.0 * 4096 * 4096 * 4, 1e-9));
  CHECK_FALSE(rows[2].levels[1]);
  CHECK(rows[2].bound_by == "arithmetic");
  // Without bounds there are no roofs but arithmetic's.
  CHECK(reports::roofline_rows(view, shown, {})[3].bound_by == "arithmetic");
}

TEST_CASE("The roofline's names keep a line's height apart and stay on the picture", "[reports]") {
  const Document d = sample::ladder_document();
  const auto data = plots::collect_roofline(view_of(d, View::Kind::roofline, "fp32"), d.entries, d.bounds);
  REQUIRE(data);
  CHECK(data->kernels.size() == sample::sample_fp32().size());
  CHECK(data->has_uncounted);
  CHECK(data->memory.size() == 3);
  const std::string script = plots::roofline_script(*data, plots::light_theme(), Source::measured);
  // Of each name's label the height, as a share of the picture's.
  std::vector<double> heights;
  for (std::size_t at = 0; (at = script.find(" left font ", at)) != std::string::npos; ++at) {
    const std::size_t from = script.rfind("screen ", at) + 7;
    heights.push_back(std::stod(script.substr(from)));
  }
  REQUIRE(heights.size() == data->kernels.size());
  for (std::size_t i = 0; i < heights.size(); ++i) {
    CHECK((heights[i] > 0 && heights[i] < 1));
    if (i > 0) CHECK(heights[i] - heights[i - 1] > 0.018);
  }
  View none = view_of(d, View::Kind::roofline, "fp32");
  none.memory.resize(1);
  none.memory[0].counted = {{"counter:of_nothing", 1}};
  none.memory[0].otherwise.clear();
  CHECK_FALSE(plots::collect_roofline(none, d.entries, d.bounds));
  CHECK_FALSE(plots::collect_roofline(view_of(d, View::Kind::roofline, "fp32"), {}, d.bounds));
}

TEST_CASE("Of several levels each name leads to its own line", "[reports]") {
  Document d = sample::ladder_document();
  View view = view_of(d, View::Kind::roofline, "fp32");
  view.levels = {{66.9e12, "peak"}, {60e12, "peak at a lower clock"}};
  const auto data = plots::collect_roofline(view, d.entries, d.bounds);
  REQUIRE(data);
  REQUIRE(data->levels.size() == 2);
  const std::string script = plots::roofline_script(*data, plots::light_theme(), Source::measured);
  // Heights on the picture: the higher line's name is next to it, the other's lead ends at its own.
  const auto height_of = [&](const plots::Level& level) {
    const std::size_t at = script.find("set label " + plots::quoted(level.label));
    REQUIRE(at != std::string::npos);
    return std::stod(script.substr(script.find(", screen ", at) + 9));
  };
  CHECK(height_of(data->levels[1]) < height_of(data->levels[0]));
  CHECK_THAT(script, ContainsSubstring(", first 60 head filled") &&
                         !ContainsSubstring(", first 66.9 head"));
}

TEST_CASE("A level's name that has no room left of its line begins at the picture's edge",
          "[reports]") {
  Document d = sample::ladder_document();
  View view = view_of(d, View::Kind::plot, "Throughput by rung: fp32");
  const auto alignment = [&](double low, double high) {
    view.levels = {{low * 1e12, "a library with a name longer than rungs have"},
                   {high * 1e12, "peak"}};
    const auto data = plots::collect(view, d.entries);
    REQUIRE(data);
    const std::string script = plots::ladder_script(*data, plots::light_theme(), Source::measured);
    const std::size_t at = script.find("set label " + plots::quoted(data->levels.front().label));
    REQUIRE(at != std::string::npos);
    return script.substr(at, script.find('\n', at) - at);
  };
  CHECK_THAT(alignment(60, 66), ContainsSubstring(" right "));
  // From the picture's edge on: right of its line the higher one's would run through it.
  CHECK_THAT(alignment(2, 66),
             ContainsSubstring("at screen 0.005,") && ContainsSubstring(" left "));
}

TEST_CASE("Pictures of the ladder are drawn", "[reports]") {
  if (const auto problem = gnuplot_problem(); !problem.empty()) SKIP(problem);
  const ReportFolder folder;
  Document d = sample::ladder_document();
  const std::string page = file_text(write_report(d, folder.path()).pages.front());
  CHECK_THAT(page, !ContainsSubstring("there is nothing to draw"));
  for (const char* name :
       {"gemm-roofline-fp32-at-4096-cubed", "gemm-throughput-by-rung-bf16-at-4096-cubed",
        "gemm-throughput-a-cycle-around-multiples-of-the-tile-fp32"}) {
    CAPTURE(name);
    CHECK_THAT(page, ContainsSubstring(name));
    CHECK_THAT(file_text(folder.path() / (std::string(name) + "-light.svg")), ContainsSubstring("</svg>"));
  }
}

}  // namespace fathom
