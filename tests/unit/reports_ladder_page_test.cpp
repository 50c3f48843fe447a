// The page of a probe of its own, and what the matrix-product ladder asks of it.

#include <fmt/format.h>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>
#include <utility>

#include "reports/columns.h"
#include "results/query.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_ladder.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

std::string ladder_of(const Document& document) {
  const ReportFolder folder;
  const ReportPaths paths = write_report(document, folder.path());
  return paths.pages.empty() ? "" : file_text(paths.pages.front());
}

/// Of an entry alone.
std::string cell(const std::string& column, const Entry& entry,
                 const std::vector<PlotLevel>& levels = {}) {
  return reports::make_column(column, {&entry}, levels).cells.front();
}

}  // namespace

TEST_CASE("Views with a section stand on the probe's own page, the others in the report",
          "[reports]") {
  Document d = sample::ladder_document();
  const ReportFolder folder;
  const ReportPaths paths = write_report(d, folder.path());
  REQUIRE(paths.pages.size() == 2);
  CHECK(paths.pages[0] == folder.path() / "ladder-fp32.md");
  CHECK(paths.pages[1] == folder.path() / "ladder-bf16.md");
  const std::string readme = file_text(paths.readme), fp32 = file_text(paths.pages[0]),
                    bf16 = file_text(paths.pages[1]);
  CHECK_THAT(readme, ContainsSubstring("[fp32](ladder-fp32.md), [bf16](ladder-bf16.md)") &&
                         !ContainsSubstring("Against the vendor's library") &&
                         !ContainsSubstring("The ladder: fp32") && ContainsSubstring("## Claims"));
  CHECK_THAT(fp32, ContainsSubstring("The ladder: fp32 at 4096³") &&
                       ContainsSubstring("Against the vendor's library: fp32") &&
                       ContainsSubstring("**Note:** Tuned") &&
                       ContainsSubstring("(ladder-bf16.md)") &&
                       ContainsSubstring("index.html#view=probes&probe=gemm&section=fp32"));
  CHECK_THAT(bf16, ContainsSubstring("Against the vendor's library: bf16") &&
                       ContainsSubstring("Throughput by size, in figures: bf16"));

  // Without a page's name, the sections stand in the report.
  d.probes.front().page.clear();
  CHECK(ladder_of(d).empty());
  CHECK_THAT(page_of(d), ContainsSubstring("The ladder: fp32 at 4096³"));
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
    const bool caption = line.starts_with("**") && !line.starts_with("**[");
    if (!line.starts_with("#") && !caption) continue;
    CHECK_THAT(line, ContainsSubstring("REPLAY"));
    ++marked;
  }
  CHECK(marked > 2);
}

TEST_CASE("Each step is held against the one before, by what changed most", "[reports]") {
  const std::string page = ladder_of(sample::ladder_document());
  CHECK_THAT(page, ContainsSubstring(
                       "| row_major/02_coalesced | Lanes along a row of C.<br>*A warp's "
                       "loads of B become four sectors "
                       "instead of 32.* | **3.1 TFLOP/s**, **6.89 ×** the one before ± 0.1 %<br>"));
  CHECK_THAT(page, ContainsSubstring("global load sectors ÷ 6.76 (73 G → 10.8 G)"));
  // A rung whose counters are missing explains nothing, and neither does the one after it.
  CHECK_THAT(page, ContainsSubstring("**0.71 ×** the one before ± 0.1 % |") &&
                       ContainsSubstring("**2.68 ×** the one before ± 0.1 % |"));
  CHECK_THAT(page, ContainsSubstring("shared load conflicts 0 → 670 M"));
  // A lesson is held against its parent, and the first of a tree against nothing.
  CHECK_THAT(page,
             ContainsSubstring("**32.2 TFLOP/s**, **1.08 ×** row_major/05_tile_2d ± 0.1 %<br>") &&
                 ContainsSubstring("**18.3 TFLOP/s** |"));

  // A rung without a figure says why, and the next is held against the last that has one.
  Document d = sample::ladder_document();
  d.entries[1].metric.value.reset();
  d.entries[1].verdict.status = VerdictStatus::wrong_output;
  CHECK_THAT(ladder_of(d), ContainsSubstring("nothing measured: wrong output |") &&
                               ContainsSubstring("**4.89 ×** the one before"));

  // One that names its parent is held against that.
  d = sample::ladder_document();
  d.entries[2].notes["parent"] = "row_major/01_naive";
  CHECK_THAT(ladder_of(d), ContainsSubstring("**4.89 ×** row_major/01_naive"));
}

TEST_CASE("Columns say shares of levels, of the bound at the measured clock, and words",
          "[reports]") {
  Entry e = sample::product_entry("ladder", "fp32", "row_major/01_naive", 64, 64, 64, 30, 60);
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
  Entry e = sample::product_entry("ladder", "fp32", "row_major/01_naive", 64, 64, 64, 30, 60);
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

}  // namespace fathom
