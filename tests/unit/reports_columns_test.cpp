// Tables of views: units, figures, what is lifted into the caption, what is empty.

#include "reports/columns.h"
#include "reports/scale.h"
#include "tests/testing.h"
#include "tests/unit/sample_document.h"

namespace fathom::reports {
namespace {

using Cells = std::vector<std::string>;

Entry entry_with(double value, const std::string& unit = "B/s") {
  Entry entry;
  entry.metric = {"bandwidth", unit, Better::higher, value};
  entry.bound = {4e12, "bus"};
  entry.axes = {{"size", std::int64_t{1} << 30}, {"type", std::string("a|b")}};
  return entry;
}

Column column(const std::string& name, const std::vector<Entry>& entries) {
  EntryList list;
  for (const Entry& entry : entries) list.push_back(&entry);
  return make_column(name, list);
}

TEST_CASE("Bounds have the metric's prefix, several metrics carry their units", "[reports]") {
  const std::vector<Entry> entries{entry_with(5e11), entry_with(6e11)};
  CHECK(column("metric", entries).unit == "GB/s");
  CHECK(column("bound", entries).unit == "GB/s");
  CHECK(column("bound", entries).cells == Cells{"4,000", "4,000"});
  CHECK(column("of_bound", entries).cells == Cells{"12.5", "15.0"});
  const Column both = column("metric", {entry_with(2e12), entry_with(3, "cycles")});
  CHECK(both.unit.empty());
  CHECK(both.cells == Cells{"2\u00A0TB/s", "3\u00A0cycles"});
}

TEST_CASE("A share of the bound turns round where lower is better", "[reports]") {
  Entry entry = entry_with(8e12);
  entry.metric.better = Better::lower;
  CHECK(share_of_bound(entry) == 0.5);
  entry.metric.value = 0;
  CHECK_FALSE(share_of_bound(entry));
  entry.metric.value.reset();
  CHECK_FALSE(share_of_bound(entry));
}

TEST_CASE("Axes, counters and further figures are columns; what is absent is a dash", "[reports]") {
  std::vector<Entry> entries{entry_with(1), entry_with(2)};
  entries[0].counters = {sample::counter("load_sectors", "m", "sectors", 33554432, 33554432)};
  entries[0].extras = {{"waves", 1.5}};
  for (const auto& [name, cells] : {std::pair{"size", Cells{"1 GiB", "1 GiB"}},
                                    {"type", Cells{"a&#124;b", "a&#124;b"}},
                                    {"counter:load_sectors", Cells{"33,554,432", "–"}},
                                    {"extra:waves", Cells{"1.500", "–"}},
                                    {"ratio:nobody", Cells{"–", "–"}},
                                    {"no such axis", Cells{"–", "–"}}})
    CHECK(column(name, entries).cells == cells);
  CHECK(column("type", entries).align == Align::left);
}

TEST_CASE("One row keeps its columns, and rows that are alike stay rows", "[reports]") {
  std::string constant;
  CHECK(make_table({column("size", {entry_with(2e12)})}, constant).markdown() ==
        "| size |\n| ---: |\n| 1 GiB |\n");
  CHECK(constant.empty());
  const std::vector<Entry> alike{entry_with(2e12), entry_with(2e12)};
  CHECK(make_table({column("ratio:nobody", alike), column("size", alike)}, constant).rows() == 2);
  CHECK(constant == "size: 1 GiB");  // what no row has is not told of all
}

TEST_CASE("Figures line up, whole ones in full", "[reports]") {
  CHECK(figures({1.0, 32.1, 0.05}) == Cells{"1.000", "32.10", "0.05000"});
  CHECK(figures({1.0, 32.0, std::nullopt}) == Cells{"1", "32", "–"});
  CHECK(figures({0.0, 0.5}) == Cells{"0", "0.5000"});
  CHECK(interval_text({1, 2, 0.95, ""}, {}) == "1 to 2");
}

}  // namespace
}  // namespace fathom::reports
