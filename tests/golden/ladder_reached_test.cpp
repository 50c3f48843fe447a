#include "gemm/bench/conclude.h"
#include "results/document_io.h"
#include "results/query.h"
#include "tests/testing.h"

// docs/gemm/reached.md and docs/figures.md against the recording, cell by cell: what was reached,
// where that is as much as was asked, and of all that was missed what the recording's counters and
// clocks say.

using namespace fathom;

namespace {

const std::filesystem::path root = FATHOM_SOURCE_DIR;

using Row = std::vector<std::string>;

/// Rows of the table whose heading begins with these words, the heading first.
std::vector<Row> table(const std::string& heading,
                       const std::string& file = "docs/gemm/reached.md") {
  std::ifstream page(root / file);
  REQUIRE(page);
  std::vector<Row> rows;
  for (std::string line; std::getline(page, line);) {
    if (rows.empty() && !line.starts_with("| " + heading + " |")) continue;
    if (!line.starts_with("|")) break;
    if (line.starts_with("| ---")) continue;
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) {
      const std::size_t first = cell.find_first_not_of(' ');
      row.push_back(first == std::string::npos
                        ? ""
                        : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
    rows.push_back(row);
  }
  REQUIRE(rows.size() > 1);
  return rows;
}

/// A product of the contest, as the columns of the tables name it.
struct Product {
  std::int64_t m, n;  ///< and k = n
  bool lasting = false;
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
  std::string asked, missed;  ///< as the tables name it
  std::string type, rung;     ///< an empty one: the last that is held against the library

  static Ladder of(const std::string& reached) {
    if (reached == "fp8, promoted sums") return {"fp8", "fp8, promoted", "fp8", "01_promoted"};
    if (reached == "fp8, fast sums") return {"fp8", "fp8, fast", "fp8", "02_fast_accumulation"};
    Ladder ladder{reached, reached, reached == "fp32 by 3xTF32" ? "fp32-3xtf32" : reached, ""};
    for (const Entry* entry :
         select(recording().entries,
                {{"part", "ladder"}, {"type", ladder.type}, {"m", std::int64_t{4096}}})) {
      if (gemm::ratio_to_faster(*entry)) ladder.rung = std::max(ladder.rung, gemm::rung_of(*entry));
    }
    return ladder;
  }

  const Entry* entry(const Product& p) const {
    for (const char* part : {"ladder", "contest", "sustained"}) {
      if (p.lasting != (std::string(part) == "sustained")) continue;
      const Entry* found = find_measured(
          recording().entries,
          {{"part", part}, {"type", type}, {"rung", rung}, {"m", p.m}, {"n", p.n}, {"k", p.n}});
      if (found != nullptr && gemm::ratio_to_faster(*found)) return found;
    }
    return nullptr;
  }
};

std::string ratio_text(double ratio) {
  return ratio < 1 ? fmt::format("{:.4g}", ratio) : fmt::format("{:.3f}", ratio);
}

/// What was asked of a ladder's product: "1.10", of lasting load "1.03 at both".
std::optional<double> asked_of(const std::vector<Row>& asked, const std::string& ladder,
                               std::size_t product) {
  const auto row = std::ranges::find(asked, ladder, [](const Row& r) { return r.front(); });
  REQUIRE(row != asked.end());
  const std::string& cell = (*row)[std::min<std::size_t>(product, 5) + 1];
  if (cell == "-") return std::nullopt;
  return std::stod(cell);
}

/// To four digits, without an exponent.
std::string microseconds(double us) {
  return us < 1e4 ? fmt::format("{:.4g} us", us)
                  : fmt::format("{:.0f} us", std::round(us / 10) * 10);
}

/// The row of a product that was missed, by the recording.
Row missed_row(const std::string& name, const Entry& entry, double asked) {
  const auto counter = [&](const char* role) { return counter_value(entry, role); };
  const auto issue = counter("issue_active"), tensor = counter("tensor_pipe_active"),
             read = counter("dram_read_bytes"), written = counter("dram_write_bytes"),
             clock = entry.timing.sm_clock_hz;
  const bool has_tensor_cores = name.find("fp32,") != 0;
  return {name,
          fmt::format("{} of {:.2f}", ratio_text(*gemm::ratio_to_faster(entry)), asked),
          microseconds(entry.real_time_s * 1e6),
          issue ? fmt::format("{:.1f} %", 100 * *issue) : "-",
          tensor && has_tensor_cores ? fmt::format("{:.1f} %", *tensor) : "-",
          read && written
              ? fmt::format("{:.2f} TB/s", (*read + *written) / entry.real_time_s / 1e12)
              : "-",
          clock ? fmt::format("{:.2f} GHz", *clock / 1e9) : "-"};
}

}  // namespace

TEST_CASE("what the ladder reached is what was recorded, and bold where it was asked", "[golden]") {
  const std::vector<Row> asked = table("Asked"), reached = table("Reached");
  REQUIRE(reached.front().size() == products.size() + 1);
  for (auto row = reached.begin() + 1; row != reached.end(); ++row) {
    const Ladder ladder = Ladder::of(row->front());
    for (std::size_t i = 0; i < products.size(); ++i) {
      CAPTURE(row->front(), products[i].missed);
      const Entry* entry = ladder.entry(products[i]);
      std::string expected = "-";
      if (entry != nullptr) {
        const double ratio = *gemm::ratio_to_faster(*entry);
        const auto goal = asked_of(asked, ladder.asked, i);
        expected = goal && ratio >= *goal ? "**" + ratio_text(ratio) + "**" : ratio_text(ratio);
      }
      CHECK((*row)[i + 1] == expected);
    }
  }
}

TEST_CASE("the table of the ladder's figures is what was recorded", "[golden]") {
  const std::vector<Row> rows =
      table("Throughput over the faster of cuBLAS and cuBLASLt", "docs/figures.md");
  constexpr std::size_t columns[] = {0, 5, 1, 6, 2, 3, 4};  // of `products`, as they stand there
  REQUIRE(rows.front().size() == std::size(columns) + 1);
  CHECK(rows.size() == 10);
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    const Ladder ladder = Ladder::of(row->front());
    for (std::size_t i = 0; i < std::size(columns); ++i) {
      CAPTURE(row->front(), products[columns[i]].missed);
      const Entry* entry = ladder.entry(products[columns[i]]);
      CHECK((*row)[i + 1] == (entry == nullptr ? "-" : ratio_text(*gemm::ratio_to_faster(*entry))));
    }
  }
}

TEST_CASE("whatever the ladder missed is listed with what the recording says of it", "[golden]") {
  const std::vector<Row> asked = table("Asked"), reached = table("Reached");
  std::vector<Row> listed = table("Missed"), expected;
  listed.erase(listed.begin());
  for (auto row = reached.begin() + 1; row != reached.end(); ++row) {
    const Ladder ladder = Ladder::of(row->front());
    for (std::size_t i = 0; i < products.size(); ++i) {
      const Entry* entry = ladder.entry(products[i]);
      const auto goal = asked_of(asked, ladder.asked, i);
      if (entry == nullptr || !goal || *gemm::ratio_to_faster(*entry) >= *goal) continue;
      expected.push_back(missed_row(ladder.missed + ", " + products[i].missed, *entry, *goal));
    }
  }
  REQUIRE(listed.size() == expected.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    CAPTURE(i);
    CHECK(listed[i] == expected[i]);
  }
}
