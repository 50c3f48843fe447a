#include "gemm/bench/conclude.h"
#include "results/document_io.h"
#include "results/query.h"
#include "tests/testing.h"

// docs/figures.md and docs/gemm/reached.md against the recording, cell by cell: what was reached,
// and of all that was missed what the recording's counters and clocks say.

using namespace fathom;

namespace {

const std::filesystem::path root = FATHOM_SOURCE_DIR;

using Row = std::vector<std::string>;

/// Rows of the table whose heading begins with this word, without the heading.
std::vector<Row> table(const std::string& heading, const std::string& file) {
  std::ifstream page(root / file);
  std::vector<Row> rows;
  for (std::string line; std::getline(page, line);) {
    if (rows.empty() && !line.starts_with("| " + heading)) continue;
    if (!line.starts_with("| ")) break;
    // "| fp32 | 1.10 |"
    Row row;
    for (std::size_t at = 2, end; (end = line.find(" |", at)) != std::string::npos; at = end + 3)
      row.push_back(line.substr(at, end - at));
    rows.push_back(row);
  }
  REQUIRE(rows.size() > 2);
  rows.erase(rows.begin(), rows.begin() + 2);  // the heading, and the line below it
  return rows;
}

/// A product of the contest, as the columns of the tables name it.
struct Product {
  std::int64_t m, n;  ///< and k = n
  bool lasting;
  std::string missed;  ///< its name among what was missed
};
const std::vector<Product> products{{4096, 4096, false, "4096³"},
                                    {8192, 8192, false, "8192³"},
                                    {4095, 4095, false, "4095³"},
                                    {16, 8192, false, "m = 16"},
                                    {128, 8192, false, "m = 128"},
                                    {4096, 4096, true, "4096³ under lasting load"},
                                    {8192, 8192, true, "8192³ under lasting load"}};

const Document& recording() {
  static const Document document = read_document(root / "recordings/h200/gemm/result.json");
  return document;
}

/// A ladder of the tables.
struct Ladder {
  std::string reached, asked, missed;  ///< as the tables name it
  std::string type, rung;              ///< an empty one: the last held against the library
};

/// In the order of what was reached; the last has no goal, and stands among the figures alone.
std::vector<Ladder> ladders() {
  std::vector<Ladder> all;
  for (const std::string name : {"fp32", "fp32 by 3xTF32", "fp64", "fp16", "bf16", "tf32"})
    all.push_back({name, name, name, name == "fp32 by 3xTF32" ? "fp32-3xtf32" : name, ""});
  all.push_back({"fp8, promoted sums", "fp8", "fp8, promoted", "fp8", "01_promoted"});
  all.push_back({"fp8, fast sums", "fp8", "fp8, fast", "fp8", "02_fast_accumulation"});
  all.push_back({"int8", "", "", "int8", ""});
  for (Ladder& ladder : all) {
    if (!ladder.rung.empty()) continue;
    for (const Entry* entry :
         select(recording().entries,
                {{"part", "ladder"}, {"type", ladder.type}, {"m", std::int64_t{4096}}}))
      if (!std::isnan(ratio_to_opponents(*entry)))
        ladder.rung = std::max(ladder.rung, gemm::rung_of(*entry));
  }
  return all;
}

const Entry* entry_of(const Ladder& ladder, const Product& p) {
  for (const char* part : {"ladder", "contest", "sustained"}) {
    if (p.lasting != (std::string(part) == "sustained")) continue;
    const Entry* found = find_measured(recording().entries, {{"part", part},
                                                             {"type", ladder.type},
                                                             {"rung", ladder.rung},
                                                             {"m", p.m},
                                                             {"n", p.n},
                                                             {"k", p.n}});
    if (found != nullptr && !std::isnan(ratio_to_opponents(*found))) return found;
  }
  return nullptr;
}

std::string ratio_text(const Entry& entry) {
  const double ratio = ratio_to_opponents(entry);
  return ratio < 1 ? fmt::format("{:.4g}", ratio) : fmt::format("{:.3f}", ratio);
}

/// What was asked of a ladder's product, in its row: "1.10", of lasting load "1.03 at both".
std::optional<double> asked_of(const Row& asked, std::size_t product) {
  const std::string& cell = asked.at(std::min<std::size_t>(product, 5) + 1);
  if (cell == "-") return std::nullopt;
  return std::stod(cell);
}

/// The row of a product that was missed, by the recording.
Row missed_row(const std::string& name, const Entry& entry, double asked) {
  const auto in = [](std::optional<double> value, const char* form) {
    return value ? fmt::format(fmt::runtime(form), *value) : "-";
  };
  const auto counter = [&](const char* role, double scale) {
    auto value = counter_value(entry, role);
    if (value) *value *= scale;
    return value;
  };
  auto traffic = counter("dram_read_bytes", 1e-12 / entry.real_time_s);
  const auto written = counter("dram_write_bytes", 1e-12 / entry.real_time_s);
  if (traffic && written) *traffic += *written;
  auto clock = entry.timing.sm_clock_hz;
  if (clock) *clock *= 1e-9;
  const bool has_tensor_cores = !name.starts_with("fp32,");
  return {name,
          fmt::format("{} of {:.2f}", ratio_text(entry), asked),
          in(counter("issue_active", 100), "{:.1f} %"),
          has_tensor_cores ? in(counter("tensor_pipe_active", 1), "{:.1f} %") : "-",
          in(written ? traffic : std::nullopt, "{:.2f} TB/s"),
          in(clock, "{:.2f} GHz")};
}

}  // namespace

TEST_CASE("what the ladder missed is listed with what the recording says of it", "[golden]") {
  const std::vector<Row> asked = table("Asked", "docs/gemm/reached.md");
  std::vector<Row> missed;
  int with_goals = 0;
  for (const Ladder& ladder : ladders()) {
    const auto goals = std::ranges::find(asked, ladder.asked, [](const Row& r) { return r[0]; });
    if (goals == asked.end()) continue;
    ++with_goals;
    for (std::size_t i = 0; i < products.size(); ++i) {
      const Entry* entry = entry_of(ladder, products[i]);
      const auto goal = asked_of(*goals, i);
      if (entry != nullptr && goal && ratio_to_opponents(*entry) < *goal)
        missed.push_back(missed_row(ladder.missed + ", " + products[i].missed, *entry, *goal));
    }
  }
  CHECK(with_goals == 8);
  CHECK(table("Missed", "docs/gemm/reached.md") == missed);
}

TEST_CASE("the table of the ladder's figures is what was recorded", "[golden]") {
  std::vector<Row> figures;
  for (const Ladder& ladder : ladders()) {
    figures.push_back({ladder.reached});
    for (const std::size_t column : {0, 5, 1, 6, 2, 3, 4}) {  // of `products`, as they stand there
      const Entry* entry = entry_of(ladder, products[column]);
      figures.back().push_back(entry == nullptr ? "-" : ratio_text(*entry));
    }
  }
  std::swap(figures[6], figures[7]);  // of fp8 the fast sums stand first there
  CHECK(table("Throughput over the faster of cuBLAS and cuBLASLt", "docs/figures.md") == figures);
}
