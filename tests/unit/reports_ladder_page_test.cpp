// The page of a probe of its own, and what the matrix-product ladder asks of it.

#include "reports/sections.h"
#include "results/document_io.h"
#include "results/findings.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

/// The recorded ladder of fp32.
Document recorded_ladder() {
  Document d =
      read_document(std::filesystem::path(FATHOM_SOURCE_DIR) / "recordings/h200/gemm/result.json");
  std::erase_if(d.entries, [](const Entry& e) { return !matches(e, {{"type", "fp32"}}); });
  std::erase_if(d.probes.front().views, [](const View& v) { return v.section != "fp32"; });
  return d;
}

Entry& rung_of(Document& document, const std::string& name) {
  return named(document.entries, &Entry::name, "gemm/fp32/" + name + "/NN/4096x4096x4096");
}

std::string ladder_of(const Document& document) {
  const TestFolder folder;
  const ReportPaths paths = write_report(document, folder.path());
  return paths.pages.empty() ? "" : file_text(paths.pages.front());
}

/// About 30 TFLOP/s of at most 60.
Entry product() {
  Entry e = sample::timed_entry("gemm", "fp32", {}, {"throughput", "FLOP/s", Better::higher, {}},
                                sample::samples(30e12, 0.001, 5, 12));
  e.real_time_s = 1e-3;
  e.bound = Bound{60e12, "planted", 1980e6};
  return e;
}

/// The cell of an entry alone.
std::string cell(const std::string& column, const Entry& entry,
                 const std::vector<PlotLevel>& levels = {}) {
  return reports::make_column(column, {&entry}, levels).cells.front();
}

}  // namespace

TEST_CASE("Sections stand in the report without a page's name, nowhere without entries",
          "[reports]") {
  Document d = recorded_ladder();
  d.notes = {"Tuned"};
  CHECK_THAT(ladder_of(d), contains("**Note:** Tuned"));
  d.probes.front().page.clear();
  CHECK(ladder_of(d).empty());
  CHECK_THAT(page_of(d), contains("The ladder: fp32 at 4096³"));
  d.entries.clear();
  CHECK_THAT(page_of(d), !contains("The ladder"));
}

TEST_CASE("A step whose parent has no figure is held against the one before", "[reports]") {
  Document d = recorded_ladder();
  // A rung whose counters are missing explains nothing, and neither does the one after it.
  for (Counter& counter : rung_of(d, "column_major/02_shared_memory").counters)
    counter.value.reset();
  CHECK_THAT(ladder_of(d), contains("**2.85 ×** column_major/01_naive ± 0.3 % |") &&
                               contains("**0.89 ×** column_major/02_shared_memory ± 0.2 % |"));
  // A rung without a figure says why, and the next is held against the last that has one.
  Entry& wrong = rung_of(d, "row_major/02_coalesced");
  wrong.metric.value.reset();
  wrong.verdict.status = VerdictStatus::wrong_output;
  rung_of(d, "row_major/03_shared_memory").notes.erase("parent");
  CHECK_THAT(ladder_of(d), contains("nothing measured: wrong output |") &&
                               contains("**17.80 ×** the one before"));
}

TEST_CASE("Columns say shares of levels and of the bound at its clock, and words", "[reports]") {
  Entry e = product();
  const std::vector<PlotLevel> levels{{40e12, "cuBLAS"}};
  const double value = *e.metric.value;
  CHECK(cell("of_level:another", e, levels) == "–");
  e.telemetry.sm_clock_hz.median = 990e6;  // half of the bound's
  CHECK(cell("of_bound_at_clock", e) == fmt::format("{:.1f}", 200 * value / 60e12));
  e.timing.sm_clock_hz = 660e6;  // what the samples themselves ran at says more
  CHECK(cell("of_bound_at_clock", e) == fmt::format("{:.1f}", 300 * value / 60e12));
  e.bound->clock_hz.reset();
  CHECK(cell("of_bound_at_clock", e) == "–");
  CHECK(cell("note:variant", e) == "–");
  e.notes["variant"] = "a | b";
  CHECK(cell("note:variant", e) == "a &#124; b");
  e.real_time_s = 0;
  CHECK(cell("time", e) == "–");
}

TEST_CASE("Shares of an opponent are of the entry's own", "[reports]") {
  Entry e = product();
  CHECK(cell("of_opponent", e) == "–");
  const double value = *e.metric.value;
  e.opponents = {planted::opponent("cuBLAS", 0.5 * value, 2),
                 planted::opponent("another", 2 * value, 0.5)};
  CHECK(cell("of_opponent", e) == "50.0");
  e.metric.better = Better::lower;
  CHECK(cell("of_opponent", e) == "50.0");
}

TEST_CASE("Several metrics carry their units, a share turns round, and rows that are alike stay",
          "[reports]") {
  using namespace reports;
  Entry one = product(), other = product();
  one.metric.value = 2e12;
  other.metric = {"latency", "cycles", Better::lower, 3};
  const Column both = make_column("metric", {&one, &other});
  CHECK(both.unit.empty());
  CHECK(both.cells == std::vector<std::string>{"2\u00A0TFLOP/s", "3\u00A0cycles"});
  one.metric.better = Better::lower;
  one.metric.value = 120e12;
  CHECK(share_of_bound(one) == 0.5);
  for (const std::optional<double> value : {std::optional(0.0), {}}) {
    one.metric.value = value;
    CHECK_FALSE(share_of_bound(one));
  }
  one.axes = {{"size", std::int64_t{1} << 30}};
  std::string constant;
  CHECK(make_table({make_column("size", {&one})}, constant).markdown() ==
        "| size |\n| ---: |\n| 1 GiB |\n");
  CHECK(constant.empty());
  const EntryList alike{&one, &one};
  CHECK(make_table({make_column("ratio:nobody", alike), make_column("size", alike)}, constant)
            .rows() == 2);
  CHECK(constant == "size: 1 GiB");  // what no row has is not told of all
}

}  // namespace fathom
