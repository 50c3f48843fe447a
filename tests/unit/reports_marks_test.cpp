#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "reports/plot.h"
#include "reports/plot_data.h"
#include "reports/plot_script.h"
#include "results/regime_view.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

/// A latency curve with two plateaus and a ramp between them.
std::vector<Entry> latency_curve() {
  std::vector<Entry> entries;
  for (int i = 0; i < 32; ++i) {
    const double y = i < 12 ? 33.0 : i < 18 ? 33 + 29.5 * (i - 11) : 210.0;
    const auto size = static_cast<std::int64_t>(std::exp2(12 + i / 3.0));
    entries.push_back(sample::timed_entry("memory_latency", "size:" + std::to_string(size),
                                          {{"size", size}},
                                          {"latency", "cycles", Better::lower, std::nullopt},
                                          sample::samples(y, 0.01, static_cast<std::uint32_t>(i))));
  }
  return entries;
}

View latency_view(const std::vector<Entry>& entries) {
  View view;
  view.kind = View::Kind::plot;
  view.title = "Latency by working set";
  view.x = "size";
  view.x_label = "working set";
  view.y_label = "latency";
  view.x_log2 = true;
  draw_regimes(view, segment(curve_of(entries, "size")), "B", "cycles");
  return view;
}

TEST_CASE("Regimes become marks of a view", "[reports]") {
  const View view = latency_view(latency_curve());
  REQUIRE(view.stretches.size() == 3);
  CHECK(view.stretches[0].label.ends_with(" cycles"));
  CHECK(view.stretches[1].label.empty());  // a ramp has no level
  CHECK_THAT(view.stretches[2].first_y, Catch::Matchers::WithinRel(210.0, 0.01));
  REQUIRE(view.markers.size() == 1);  // the last plateau ends with the curve, not with a change
  CHECK(view.markers[0].x == view.stretches[0].last_x);
  CHECK(view.markers[0].label == "50.8 KiB");
}

TEST_CASE("A line of shares is drawn bent", "[reports]") {
  std::vector<CurvePoint> curve;
  for (double x = 4; x < 100; x += 2) curve.push_back({x, {280 + 250 * std::max(0.0, 1 - 30 / x)}});
  View view;
  draw_regimes(view, segment(curve, {.scale = RampScale::share}), "B", "cycles");
  REQUIRE(view.stretches.size() > 4);
  for (std::size_t i = 2; i < view.stretches.size(); ++i) {
    const auto &before = view.stretches[i - 1], &after = view.stretches[i];
    CHECK(after.first_x == before.last_x);
    CHECK(after.first_y == before.last_y);
    CHECK_THAT(after.last_y,
               Catch::Matchers::WithinRel(280 + 250 * (1 - 30 / after.last_x), 0.005));
  }
}

TEST_CASE("Marks are drawn where they have a place", "[reports]") {
  const std::vector<Entry> entries = latency_curve();
  View view = latency_view(entries);
  view.markers.push_back({1, "left of the axis"});
  view.markers.push_back({1e15, "right of the axis"});
  view.stretches.push_back({1, 5, 2, 5, "outside"});
  auto data = plots::collect(view, entries);
  REQUIRE(data);
  CHECK(data->markers.size() == 1);
  CHECK(data->stretches.size() == 3);
  const std::string script = plots::script_of(*data, plots::light_theme(), Source::measured);
  CHECK(script.find("$stretches << END") != std::string::npos);
  CHECK(script.find("set arrow from first ") != std::string::npos);

  // y in the prefix of the axis: 4.28e12 B/s is 4.28 TB/s.
  std::vector<Entry> copies;
  for (const Entry& e : sample::document().entries) {
    if (e.probe == "copy_bandwidth") copies.push_back(e);
  }
  data = plots::collect(sample::copy_plot(), copies);
  REQUIRE(data);
  REQUIRE(data->stretches.size() == 1);
  CHECK_THAT(data->stretches[0].first_y, Catch::Matchers::WithinRel(4.28, 1e-9));

  // Words have no places between them, and a logarithm no zero.
  view = sample::copy_plot();
  view.x = "type";
  view.where.clear();
  data = plots::collect(view, copies);
  REQUIRE(data);
  CHECK(data->markers.empty());
  view = latency_view(entries);
  view.y_log = true;
  view.stretches[0].first_y = 0;
  data = plots::collect(view, entries);
  REQUIRE(data);
  CHECK(data->stretches.size() == 2);
}

TEST_CASE("A plot without marks is drawn as before", "[reports]") {
  const std::vector<Entry> entries = latency_curve();
  View view = latency_view(entries);
  view.markers.clear();
  view.stretches.clear();
  const auto data = plots::collect(view, entries);
  REQUIRE(data);
  const std::string script = plots::script_of(*data, plots::dark_theme(), Source::measured);
  CHECK(script.find("$stretches") == std::string::npos);
  CHECK(script.find("set arrow") == std::string::npos);
}

TEST_CASE("gnuplot draws marks, hostile labels as text", "[reports]") {
  if (const std::string why = gnuplot_problem(); !why.empty()) SKIP(why);
  const std::vector<Entry> entries = latency_curve();
  View view = latency_view(entries);
  view.markers[0].label = "`date` \" ' @x $(1)";
  const auto folder = std::filesystem::temp_directory_path();
  const auto picture = draw_plot(view, entries, folder, "fathom-marks-test", Source::measured);
  REQUIRE(picture);
  for (const std::string& file : {picture->light, picture->dark}) {
    CHECK(std::filesystem::remove(folder / file));
  }
}

}  // namespace
}  // namespace fathom
