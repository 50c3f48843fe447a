// Words that are too wide to stand side by side become rows.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <utility>

#include "reports/plot.h"
#include "reports/plot_data.h"
#include "reports/plot_ladder.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;

const std::string words[] = {"shared memory", "L1",    "L2",   "DRAM",
                             "FFMA",          "HFMA2", "DFMA", "wgmma bf16 m64n256k16"};

std::vector<Entry> ladder() {
  std::vector<Entry> entries;
  double value = 0.3;
  for (const std::string& word : words) {
    entries.push_back(sample::timed_entry(
        "energy", word, {{"loop", word}, {"per", entries.size() < 4 ? "byte" : "FLOP"}},
        {"energy", "pJ", Better::lower, std::nullopt}, sample::samples(value, 0.02, 1)));
    value *= 1.9;
  }
  return entries;
}

View view_of() {
  View v;
  v.kind = View::Kind::plot;
  v.title = "Energy ladder";
  v.x = "loop";
  v.y_log = true;
  v.series = {"per"};
  return v;
}

}  // namespace

TEST_CASE("Wide words are read from the top down", "[reports]") {
  const std::vector<Entry> entries = ladder();
  const auto data = plots::collect(view_of(), entries);
  REQUIRE(data);
  CHECK(plots::reads_as_ladder(*data));
  // Each word has one figure: it stands in the middle of its row, whatever its series.
  CHECK(data->series[1].points[0].x == 4);
  const std::string script = plots::ladder_script(*data, plots::light_theme(), Source::measured);
  CHECK_THAT(script, ContainsSubstring("set logscale x 10") && ContainsSubstring("xerrorbars"));

  // Few short words stand side by side, and so do those with a bound or an expectation.
  const std::vector<Entry> few(entries.begin() + 1, entries.begin() + 4);
  CHECK_FALSE(plots::reads_as_ladder(*plots::collect(view_of(), few)));
  std::vector<Entry> bounded = entries;
  bounded[2].bound = Bound{1e-9, "wire"};
  CHECK_FALSE(plots::reads_as_ladder(*plots::collect(view_of(), bounded)));
  std::vector<Entry> expected = entries;
  expected[2].expected = Expectation{1, 0.1, "model"};
  CHECK_FALSE(plots::reads_as_ladder(*plots::collect(view_of(), expected)));
}

TEST_CASE("Labels of a ladder's axis do not meet", "[reports]") {
  const auto labels_of = [](const char* unit) {
    std::vector<Entry> entries = ladder();
    for (Entry& entry : entries) entry.metric.unit = unit;
    const auto data = plots::collect(view_of(), entries);
    const std::string script = plots::ladder_script(*data, plots::light_theme(), Source::measured);
    const std::size_t from = script.find("set xtics (");
    const std::string line = script.substr(from, script.find('\n', from) - from);
    return std::pair(static_cast<std::size_t>(std::ranges::count(line, '"') / 2),
                     data->y.ticks.size());
  };
  const auto [few, of_many] = labels_of("instructions");
  CHECK(few >= 2);
  CHECK(few < of_many);
  const auto [all, of_all] = labels_of("s");
  CHECK(all == of_all);
}

TEST_CASE("Words with a figure in several series set them apart", "[reports]") {
  std::vector<Entry> entries = ladder();
  for (const std::string& word : words) {
    entries.push_back(sample::timed_entry("energy", word + "/again", {{"loop", word}, {"per", "x"}},
                                          {"energy", "pJ", Better::lower, std::nullopt},
                                          sample::samples(2, 0.02, 2)));
  }
  const auto data = plots::collect(view_of(), entries);
  REQUIRE(data);
  CHECK(data->series[0].points[0].x < 0);
  CHECK(data->series[2].points[0].x > 0);
}

TEST_CASE("A ladder shows every word and figure", "[reports]") {
  if (const auto problem = gnuplot_problem(); !problem.empty()) SKIP(problem);
  const ReportFolder folder;
  const auto picture = draw_plot(view_of(), ladder(), folder.path(), "ladder", Source::replay);
  REQUIRE(picture);
  for (const std::string& file : {picture->light, picture->dark}) {
    const std::string svg = file_text(folder.path() / file);
    for (const std::string& word : words) CHECK_THAT(svg, ContainsSubstring(word));
    CHECK_THAT(svg, ContainsSubstring("pJ<") && ContainsSubstring(">REPLAY<") &&
                        ContainsSubstring("FLOP"));
  }
}

}  // namespace fathom
