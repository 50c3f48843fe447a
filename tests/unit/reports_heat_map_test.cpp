// Heat maps: which figure goes where, what the palette spans, and how large the file gets.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "reports/plot.h"
#include "reports/plot_heat_map.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

View only_view(const Document& document) { return document.probes.at(0).views.at(0); }

/// From GPU to GPU, as a matrix of axes has it.
Entry link(std::int64_t from, const std::string& to, double value, std::string unit = "B/s") {
  Entry e;
  e.probe = "links";
  e.axes = {{"from", from}, {"to", to}};
  e.metric = {"bandwidth", std::move(unit), Better::higher, value};
  e.extras = {{"hops", value / 1e11}};
  return e;
}

View matrix() {
  View v;
  v.kind = View::Kind::heat_map;
  v.title = "Links";
  v.x = "to";
  v.y_axis = "from";
  return v;
}

std::vector<std::string> texts(const plots::Ticks& ticks) {
  std::vector<std::string> found;
  for (const auto& tick : ticks) found.push_back(tick.second);
  return found;
}

}  // namespace

TEST_CASE("A profile's values stand in their row and place", "[reports]") {
  const Document d = sample::heat_map_document(4, 16);
  const auto map = plots::collect_heat_map(only_view(d), d.entries);
  REQUIRE(map);
  CHECK(texts(map->rows) == std::vector<std::string>{"0", "2", "1", "3"});  // as ordered
  REQUIRE(map->cells.size() == 4);
  CHECK(map->cells[0] == d.entries[0].profile->values);
  CHECK(map->cells[1] == d.entries[2].profile->values);
  CHECK(map->cells[2] == d.entries[1].profile->values);
  CHECK(map->filled == 64);
  CHECK(map->beyond == 0);
  CHECK(map->binned == 1);
  CHECK(map->note().empty());
  CHECK(map->x_label == "L2 line");
  CHECK(map->colour_label == "latency (cycles)");
  CHECK(map->colours.low == 210);
  CHECK(map->colours.high == 264);
  CHECK(map->lowest == "210 cycles");
}

TEST_CASE("Rows without a place in the order follow those with one", "[reports]") {
  const Document d = sample::heat_map_document(4, 4);
  View view = only_view(d);
  view.row_order = {std::int64_t{3}, std::int64_t{99}, std::int64_t{1}};
  CHECK(texts(plots::collect_heat_map(view, d.entries)->rows) ==
        std::vector<std::string>{"3", "1", "0", "2"});
  view.row_order.clear();
  CHECK(texts(plots::collect_heat_map(view, d.entries)->rows) ==
        std::vector<std::string>{"0", "1", "2", "3"});
  view.where = {{"sm", {std::int64_t{2}}}};
  CHECK(texts(plots::collect_heat_map(view, d.entries)->rows) == std::vector<std::string>{"2"});
}

TEST_CASE("Axes make a matrix, with gaps where nothing was measured", "[reports]") {
  const std::vector<Entry> entries{link(0, "b", 200e9), link(0, "c", 400e9), link(1, "c", 300e9),
                                   link(1, "c", 100e9), link(1, "b", 7, "cycles")};
  auto map = plots::collect_heat_map(matrix(), entries);
  REQUIRE(map);
  CHECK(texts(map->columns) == std::vector<std::string>{"b", "c"});
  CHECK(map->colour_label == "bandwidth (GB/s)");
  CHECK_THAT(map->cells[0][0], WithinRel(200.0));
  CHECK_THAT(map->cells[0][1], WithinRel(400.0));
  CHECK(std::isnan(map->cells[1][0]));             // another unit
  CHECK_THAT(map->cells[1][1], WithinRel(200.0));  // the mean of two
  CHECK(map->filled == 3);

  View extra = matrix();
  extra.y = "hops";
  map = plots::collect_heat_map(extra, entries);
  REQUIRE(map);
  CHECK(map->colour_label == "hops");
  CHECK_THAT(map->cells[0][1], WithinRel(4.0));

  View none = matrix();
  none.x = "absent";
  CHECK_FALSE(plots::collect_heat_map(none, entries));
  none = matrix();
  none.y_axis = "absent";
  CHECK_FALSE(plots::collect_heat_map(none, entries));
  none = matrix();
  none.x = "profile";  // nobody has one
  CHECK_FALSE(plots::collect_heat_map(none, entries));
  CHECK_FALSE(plots::collect_heat_map(matrix(), {}));
}

TEST_CASE("Columns beyond what a picture can show are binned, and it says so", "[reports]") {
  const Document d = sample::heat_map_document(2, 1030);
  const auto map = plots::collect_heat_map(only_view(d), d.entries);
  REQUIRE(map);
  CHECK(map->binned == 3);
  CHECK(map->cells[0].size() == 344);
  const auto& values = d.entries[0].profile->values;
  CHECK_THAT(map->cells[0][1], WithinRel((values[3] + values[4] + values[5]) / 3));
  CHECK_THAT(map->cells[0].back(), WithinRel(values[1029]));  // the last bin has one
  CHECK_THAT(map->note(), ContainsSubstring("the mean of 3 neighbours"));
}

TEST_CASE("Few outliers do not take the colours", "[reports]") {
  Document d = sample::heat_map_document(20, 100);
  d.entries[3].profile->values[17] = 9000;
  auto map = plots::collect_heat_map(only_view(d), d.entries);
  REQUIRE(map);
  CHECK(map->colours.high == 264);
  CHECK(map->beyond == 1);
  CHECK(map->highest == "9000 cycles");
  CHECK_THAT(map->note(), ContainsSubstring("from 210 cycles to 264 cycles") &&
                              ContainsSubstring("1 of 2,000 figures lie beyond") &&
                              ContainsSubstring("the highest 9000 cycles"));
  // Many are none.
  for (Entry& entry : d.entries) entry.profile->values[17] = 9000;
  map = plots::collect_heat_map(only_view(d), d.entries);
  CHECK(map->colours.high == 9000);
  CHECK(map->beyond == 0);
}

TEST_CASE("Figures that no palette can show leave gaps", "[reports]") {
  Document d = sample::heat_map_document(2, 4);
  d.entries[0].profile->values = {5, std::numeric_limits<double>::infinity(), 1e300, 5};
  d.entries[1].axes[0].second = std::numeric_limits<double>::quiet_NaN();
  const auto map = plots::collect_heat_map(only_view(d), d.entries);
  REQUIRE(map);
  CHECK(map->filled == 2);
  REQUIRE(map->cells.size() == 1);
  CHECK(map->colours.low < 5);  // one value only, and still two ends
  CHECK(map->colours.high > 5);
}

TEST_CASE("A palette of zeros alone has ends that a reader can tell", "[reports]") {
  Document d = sample::heat_map_document(2, 4);
  for (Entry& entry : d.entries) entry.profile->values = {0, 0, 0, 0};
  const auto map = plots::collect_heat_map(only_view(d), d.entries);
  REQUIRE(map);
  CHECK(map->colours.low == -1);
  CHECK(map->colours.high == 1);
}

TEST_CASE("Heat maps are drawn as images of a moderate size", "[reports]") {
  if (const auto problem = gnuplot_problem(); !problem.empty()) SKIP(problem);
  const ReportFolder folder;
  Document d = sample::heat_map_document(132, 512);
  // Noise of 3 % on every figure, so that nothing of it repeats.
  for (std::size_t sm = 0; sm < d.entries.size(); ++sm) {
    const auto noise = sample::samples(1, 0.03, static_cast<std::uint32_t>(sm), 512);
    std::vector<double>& values = d.entries[sm].profile->values;
    std::transform(values.begin(), values.end(), noise.begin(), values.begin(),
                   [](double value, double factor) { return value * factor; });
  }
  d.entries.erase(d.entries.begin() + 60);
  d.entries[7].profile->values.resize(100);
  const auto draw = [&](Source source) {
    return draw_plot(only_view(d), d.entries, folder.path(), "map", source);
  };
  const auto picture = draw(Source::measured);
  REQUIRE(picture);
  const std::string light = file_text(folder.path() / picture->light);
  CHECK_THAT(light, ContainsSubstring("<image ") && !ContainsSubstring("REPLAY"));
  CHECK(light.size() < 300'000);
  CHECK_THAT(file_text(folder.path() / picture->dark), ContainsSubstring("<image "));
  CHECK_THAT(picture->alt,
             ContainsSubstring("131 rows by sm") && ContainsSubstring("512 columns by L2 line"));
  REQUIRE(draw(Source::measured));
  CHECK(file_text(folder.path() / picture->light) == light);  // the same bytes

  const auto replay = draw(Source::replay);
  REQUIRE(replay);
  CHECK(replay->alt.starts_with("REPLAY: "));
  const std::string marked = file_text(folder.path() / replay->light);
  CHECK_THAT(marked, ContainsSubstring(">REPLAY<"));
}

TEST_CASE("A heat map's texts are never code", "[reports]") {
  if (const auto problem = gnuplot_problem(); !problem.empty()) SKIP(problem);
  const ReportFolder folder;
  const std::string hostile = "a'b\"c`touch " + (folder.path() / "owned").string() + "`@x %s\n";
  std::vector<Entry> entries{link(0, hostile, 1), link(1, "b", 2)};
  for (Entry& e : entries) e.metric.unit = hostile;
  View view = matrix();
  view.title = view.x_label = view.y_label = hostile;
  CHECK(draw_plot(view, entries, folder.path(), "map", Source::measured));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "owned"));
}

}  // namespace fathom
