#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <unistd.h>

#include "reports/plot.h"
#include "reports/plot_axis.h"
#include "reports/plot_data.h"
#include "reports/plot_process.h"
#include "reports/plot_script.h"
#include "reports/plot_text.h"
#include "results/error.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using plots::PlotData;

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "fathom-plot-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

  std::string text(const std::string& file) const {
    std::ifstream in(path_ / file, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }

 private:
  fs::path path_;
};

Entry entry(Axes axes, double value, const std::string& unit = "cycles") {
  Entry e;
  e.probe = "p";
  e.axes = std::move(axes);
  e.metric = {"cycles_per_access", unit, Better::lower, value};
  return e;
}

Entry at(std::int64_t x, double value) { return entry({{"x", x}}, value); }

View plot_of(const std::string& x) {
  View view;
  view.kind = View::Kind::plot;
  view.title = "A title";
  view.x = x;
  return view;
}

std::vector<Entry> copy_entries() {
  std::vector<Entry> entries;
  for (const Entry& e : sample::document().entries) {
    if (e.probe == "copy_bandwidth") entries.push_back(e);
  }
  return entries;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++found;
  return found;
}

void need_gnuplot() {
  if (const std::string why = gnuplot_problem(); !why.empty()) SKIP(why);
}

TEST_CASE("A plot has the entries of its where, one series each combination", "[reports]") {
  const auto data = plots::collect(sample::copy_plot(), copy_entries());
  REQUIRE(data);
  REQUIRE(data->series.size() == 2);  // "char" is not asked for
  CHECK(data->series[0].label == "half");
  CHECK(data->series[1].label == "float4");
  CHECK(data->key_title == "type");
  for (const auto& series : data->series) {
    REQUIRE(series.points.size() == 3);
    CHECK(series.connected);
    CHECK(series.points[0].x == 0x1p26);
    CHECK(series.points[2].x == 0x1p30);
  }
  // In the axis' unit: 4.28 TB/s is 4.28.
  CHECK(data->y_label == "bandwidth (TB/s)");
  CHECK_THAT(data->series[1].points[0].y, Catch::Matchers::WithinRel(4.28, 0.01));
  REQUIRE(data->bound);
  CHECK_THAT(*data->bound, Catch::Matchers::WithinRel(4.8, 1e-12));
  CHECK(data->bound_text == "bound 4.8 TB/s");
  CHECK(data->has_expected);
  CHECK(data->has_intervals);
  CHECK(data->x.ticks.front().second == "64 MiB");
}

TEST_CASE("A plot's y is the metric, a counter or an extra", "[reports]") {
  std::vector<Entry> entries{at(1, 10), at(2, 20)};
  entries[0].counters = {sample::counter("wavefronts", "m", "wavefronts", 7, 8)};
  entries[1].counters = {sample::missing_counter("wavefronts", "not permitted")};
  entries[0].extras = {{"occupancy", 0.5}};
  View view = plot_of("x");
  CHECK(plots::collect(view, entries)->series.at(0).points.size() == 2);
  for (const char* y : {"wavefronts", "counter:wavefronts"}) {
    view.y = y;
    const auto data = plots::collect(view, entries);
    REQUIRE(data->series.at(0).points.size() == 1);  // a missing value is not drawn as zero
    CHECK(data->series[0].points[0].y == 7);
    CHECK(data->series[0].points[0].expected == 8);
  }
  for (const char* y : {"occupancy", "extra:occupancy"}) {
    view.y = y;
    CHECK(plots::collect(view, entries)->series.at(0).points.at(0).y == 0.5);
  }
  view.y = "counter:occupancy";
  CHECK_FALSE(plots::collect(view, entries));
}

TEST_CASE("A plot draws no figure that is none", "[reports]") {
  std::vector<Entry> entries{at(1, std::nan("")), at(2, std::numeric_limits<double>::infinity()),
                             at(3, 1e300)};
  const View view = plot_of("x");
  CHECK_FALSE(plots::collect(view, entries));
  entries.push_back(at(4, 5));
  CHECK(plots::collect(view, entries)->series.at(0).points.size() == 1);
  // Another unit does not fit the axis.
  entries.push_back(entry({{"x", std::int64_t{5}}}, 6, "s"));
  CHECK(plots::collect(view, entries)->series.at(0).points.size() == 1);
}

TEST_CASE("Words, and zero on a logarithmic axis, become categories", "[reports]") {
  std::vector<Entry> words{entry({{"x", std::string("b")}}, 1),
                           entry({{"x", std::string("a")}}, 2)};
  auto data = plots::collect(plot_of("x"), words);
  CHECK(data->categories == std::vector<std::string>{"b", "a"});
  CHECK_FALSE(data->series.at(0).connected);  // words have no order

  View view = plot_of("base offset (B)");
  view.x_log2 = true;
  std::vector<Entry> offsets;
  for (const std::int64_t offset : {2048, 0, 16}) offsets.push_back(entry({{view.x, offset}}, 3));
  data = plots::collect(view, offsets);
  CHECK(data->categories == std::vector<std::string>{"0 B", "16 B", "2 KiB"});
  CHECK(data->series.at(0).connected);
}

TEST_CASE("Points that share an x are not joined", "[reports]") {
  const std::vector<Entry> entries{at(1, 1), at(1, 2), at(2, 3)};
  CHECK_FALSE(plots::collect(plot_of("x"), entries)->series.at(0).connected);
}

TEST_CASE("A bound is a line, a curve, or named where it lies far above", "[reports]") {
  std::vector<Entry> entries{at(1, 10), at(2, 12)};
  for (Entry& e : entries) e.bound = Bound{15, "made up"};
  auto data = plots::collect(plot_of("x"), entries);
  CHECK(data->bound == 15);
  CHECK_FALSE(data->bound_beyond);
  CHECK(data->y.high >= 15);

  for (Entry& e : entries) e.bound = Bound{1500, "made up"};
  data = plots::collect(plot_of("x"), entries);
  CHECK(data->bound_beyond);
  CHECK(data->y.high < 20);

  entries[1].bound = Bound{14, "made up"};
  data = plots::collect(plot_of("x"), entries);
  CHECK(data->bounds_differ);
  CHECK_FALSE(data->bound);

  View view = plot_of("x");
  view.show_bound = false;
  CHECK_FALSE(plots::collect(view, entries)->bounds_differ);
}

TEST_CASE("The y axis begins at zero where asked, and is logarithmic where it can be",
          "[reports]") {
  std::vector<Entry> entries{at(1, 100), at(2, 110)};
  View view = plot_of("x");
  CHECK(plots::collect(view, entries)->y.low == 0);
  view.y_from_zero = false;
  CHECK(plots::collect(view, entries)->y.low > 90);
  view.y_log = true;
  CHECK(plots::collect(view, entries)->y.kind == plots::Scale::Kind::log10);
  entries.push_back(at(3, 0));
  CHECK(plots::collect(view, entries)->y.kind == plots::Scale::Kind::linear);
}

TEST_CASE("Axes hold their data between round ticks", "[reports]") {
  const double values[][2] = {{0, 0},    {5, 5},           {-3, 8},       {1e-9, 2e-9},
                              {1, 1e12}, {1e15, 1e15 + 4}, {-1e99, 1e99}, {0.1, 0.1000001}};
  for (const auto& [low, high] : values) {
    for (const bool zero : {false, true}) {
      CAPTURE(low, high, zero);
      const auto scale = plots::linear_scale(low, high, zero, false, 6);
      CHECK(scale.low <= low + 1e-9 * std::abs(low));
      CHECK(scale.high >= high - 1e-9 * std::abs(high));
      CHECK(scale.low < scale.high);
      CHECK(scale.ticks.size() >= 2);
      CHECK(scale.ticks.size() <= 10);
    }
  }
  for (const double high : {1.0, 1.01, 3.0, 1e4, 1e30}) {
    CAPTURE(high);
    for (const auto& scale :
         {plots::log2_scale(1, high, true, 9), plots::log10_scale(1, high, "s")}) {
      CHECK(scale.low < 1);
      CHECK(scale.high > high);
      std::size_t inside = 0;
      for (const auto& tick : scale.ticks)
        inside += tick.first >= scale.low && tick.first <= scale.high;
      CHECK(inside >= 1);
      CHECK(scale.ticks.size() <= 20);
    }
  }
  CHECK(plots::label_with_unit("Bandwidth (B/s)", "B/s", "GB/s") == "Bandwidth (GB/s)");
  CHECK(plots::label_with_unit("Clocks per access", "clocks", "clocks") == "Clocks per access");
  CHECK(plots::in_bytes("stride (B)", ""));
  CHECK(plots::in_bytes("n", "Bytes copied"));
  CHECK_FALSE(plots::in_bytes("stride (words)", "Stride between lanes (4-byte words)"));
}

TEST_CASE("Text of a plot cannot leave its string", "[reports]") {
  CHECK(plots::quoted("a'b") == "\"a\\047b\"");
  CHECK(plots::length("µ漢x") == 3);
  CHECK(plots::shortened("µ漢xy", 3) == "µ漢…");
  CHECK(plots::wrapped("one two three four", 9, 2) ==
        std::vector<std::string>{"one two", "three fo…"});
  CHECK(plots::wrapped("", 9, 2) == std::vector<std::string>{""});
}

TEST_CASE("A program that hangs, fails or is missing has a reason", "[reports]") {
  const Folder folder;
  const auto program = [&](const char* name, const char* body) {
    const fs::path path = folder.path() / name;
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  };
  using namespace std::chrono_literals;
  const auto start = std::chrono::steady_clock::now();
  CHECK(plots::run_gnuplot("", 200ms, program("hang", "exec sleep 60")).problem ==
        "did not end within 0.2 s");
  CHECK(std::chrono::steady_clock::now() - start < 20s);
  CHECK(plots::run_gnuplot("", 20s, program("fail", "echo sorry >&2; exit 3")).problem ==
        "failed: sorry\n");
  CHECK(plots::run_gnuplot("", 20s, (folder.path() / "none").string()).problem ==
        "is not installed");
  CHECK(plots::run_gnuplot("some text", 20s, program("echo", "cat; echo $LC_ALL$HOME")).output ==
        "some textC\n");
}

TEST_CASE("A picture is a pair of SVG files, the same each time", "[reports]") {
  need_gnuplot();
  const Folder folder;
  const auto picture =
      draw_plot(sample::copy_plot(), copy_entries(), folder.path(), "copy", Source::measured);
  REQUIRE(picture);
  CHECK(picture->light == "copy-light.svg");
  CHECK(picture->dark == "copy-dark.svg");
  const std::string light = folder.text(picture->light), dark = folder.text(picture->dark);
  for (const std::string& svg : {light, dark}) {
    CHECK(svg.find("</svg>") != std::string::npos);
    for (const char* text : {"Copy bandwidth by size", "bandwidth (TB/s)", "float4", "half",
                             "1 GiB", "expected", "bound 4.8 TB/s"}) {
      CAPTURE(text);
      CHECK(svg.find(text) != std::string::npos);
    }
    CHECK(svg.find("REPLAY") == std::string::npos);
  }
  CHECK(light != dark);
  draw_plot(sample::copy_plot(), copy_entries(), folder.path(), "again", Source::measured);
  CHECK(folder.text("again-light.svg") == light);
  CHECK(folder.text("again-dark.svg") == dark);
}

TEST_CASE("A picture of a replay says so", "[reports]") {
  need_gnuplot();
  const Folder folder;
  const auto plot =
      draw_plot(sample::copy_plot(), copy_entries(), folder.path(), "a", Source::replay);
  REQUIRE(plot);
  for (const auto& picture : {*plot}) {
    CHECK(picture.alt.starts_with("REPLAY"));
    for (const auto& file : {picture.light, picture.dark}) {
      CHECK(count(folder.text(file), ">REPLAY<") == 1);   // across the middle
      CHECK(count(folder.text(file), ">REPLAY: ") == 1);  // in the title
    }
  }
}

TEST_CASE("Hostile text is shown, not run", "[reports]") {
  need_gnuplot();
  const Folder folder;
  const std::string touched = (folder.path() / "touched").string();
  const std::string texts[] = {"'; system('touch " + touched + "'); print '",
                               "\"; system(\"touch " + touched + "\") #",
                               "`touch " + touched + "`",
                               "@GPVAL_TERM _a^{b} %g %d \\n \\",
                               "''a'' \\' \\\" 2.5.1",
                               "END\nsystem('touch " + touched + "')",
                               "<script>&amp;</script> µ漢"};
  for (const std::string& text : texts) {
    CAPTURE(text);
    Entry e = entry({{text, text}, {"s" + text, text}}, 3, text);
    Entry other = e;
    other.axes[0].second = "other";
    other.axes[1].second = "other";
    e.bound = other.bound = Bound{4, text};
    View view = plot_of(text);
    view.title = text;
    view.x_label = view.y_label = text;
    view.series = {"s" + text};
    const auto picture =
        draw_plot(view, std::vector<Entry>{e, other}, folder.path(), "a", Source::measured);
    REQUIRE(picture);
    CHECK_FALSE(fs::exists(touched));
    CHECK(folder.text("a-light.svg").find("<script") == std::string::npos);
  }
  // Each character arrives as it is.
  View view = plot_of("x");
  view.title = "It's @home _a^{b} `c` \"d\" \\n 2.5 %g (1)";
  REQUIRE(draw_plot(view, std::vector<Entry>{at(1, 2)}, folder.path(), "c", Source::measured));
  CHECK(folder.text("c-light.svg").find("<text>" + view.title + "</text>") != std::string::npos);
}

TEST_CASE("Odd data still makes a picture", "[reports]") {
  need_gnuplot();
  const Folder folder;
  const auto drawn = [&](const View& view, const std::vector<Entry>& entries) {
    return draw_plot(view, entries, folder.path(), "odd", Source::measured).has_value();
  };
  std::vector<Entry> many, far{at(1, 1e-90), at(2, 1e90)}, wide;
  for (std::int64_t i = 0; i < 2000; ++i) {
    many.push_back(entry({{"x", i}, {"word", "w" + std::to_string(i)}, {"s", i % 40}},
                         static_cast<double>(i % 17)));
  }
  for (std::int64_t i = 0; i < 62; ++i) wide.push_back(at(std::int64_t{1} << i, 1));
  for (const bool logarithmic : {false, true}) {
    View view = plot_of("x");
    view.x_log2 = view.y_log = logarithmic;
    CHECK(drawn(view, {at(5, 12)}));
    CHECK(drawn(view, {at(0, 0)}));
    CHECK(drawn(view, {at(-5, -12), at(3, 1)}));
    CHECK(drawn(view, {at(5, 12), at(5, 12)}));
    CHECK(drawn(view, {at(1, 12), at(2, 12)}));
    CHECK(drawn(view, far));
    CHECK(drawn(view, wide));
    view.series = {"s"};
    CHECK(drawn(view, many));
    view.x = "word";
    CHECK(drawn(view, many));
  }
}

TEST_CASE("A key stays shorter than the frame, and counts what it does not name", "[reports]") {
  const auto keyed = [](int series, const std::string& name) {
    std::vector<Entry> entries;
    for (int i = 0; i < series; ++i) {
      for (const std::int64_t x : {1, 2}) {
        entries.push_back(entry({{"x", x}, {"of", name + std::to_string(i)}}, 1.0 + i));
      }
    }
    View view = plot_of("x");
    view.series = {"of"};
    const auto data = plots::collect(view, entries);
    REQUIRE(data);
    return plots::script_of(*data, plots::light_theme(), Source::measured);
  };
  const std::string wordy(50, 'w');
  CHECK(count(keyed(8, wordy), "with linespoints") == 8);
  CHECK(count(keyed(8, wordy), " title ") == 8);
  CHECK(count(keyed(8, wordy), plots::quoted(std::string("and 25 more"))) == 0);
  CHECK(count(keyed(32, wordy), "with linespoints") == 32);
  CHECK(count(keyed(32, wordy), " title ") == 8);
  CHECK(count(keyed(32, wordy), plots::quoted(std::string("and 25 more"))) == 1);
  CHECK(count(keyed(32, ""), " title ") == 32);  // short names have room beside each other
  CHECK(count(keyed(9, wordy), plots::quoted(std::string("and 2 more"))) == 1);
}

TEST_CASE("Nothing to draw draws nothing", "[reports]") {
  const Folder folder;
  CHECK_FALSE(draw_plot(plot_of("x"), {}, folder.path(), "a", Source::measured));
  CHECK_FALSE(draw_plot(plot_of("none"), std::vector<Entry>{at(1, 2)}, folder.path(), "a",
                        Source::measured));
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("A picture that cannot be written is an error", "[reports]") {
  need_gnuplot();
  const Folder folder;
  const auto code = [](const fs::path& where, const std::string& stem) {
    try {
      draw_plot(plot_of("x"), std::vector<Entry>{at(1, 2)}, where, stem, Source::measured);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::ok;
  };
  CHECK(code(folder.path() / "missing", "a") == ExitCode::output_unwritable);
}

}  // namespace
}  // namespace fathom
