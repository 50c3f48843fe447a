#include <regex>

#include "gemm/bench/conclude.h"
#include "reports/recordings.h"
#include "reports/report.h"
#include "results/document_io.h"
#include "results/findings.h"
#include "tests/testing.h"
#include "tools/commands.h"

// A figure that the README quotes must stand in a report of the recordings that it names.

namespace {

const std::filesystem::path root = FATHOM_SOURCE_DIR;

/// Between the marks `<!-- NAME` and `<!-- /NAME -->`, without the opening mark's own line.
std::string quoting_part(const std::string& readme, const std::string& name) {
  const std::size_t mark = readme.find("<!-- " + name);
  const std::size_t begin = readme.find('\n', mark);
  const std::size_t end = readme.find("<!-- /" + name + " -->");
  REQUIRE(mark != std::string::npos);
  REQUIRE(end != std::string::npos);
  return readme.substr(begin, end - begin);
}

/// How many figures `part` quotes. Each must stand in `report`.
int check_figures(const std::string& part, const std::string& report) {
  // With a decimal point or a thousands separator: measured figures, not sizes of the question.
  const std::regex figure("[0-9]+(?:,[0-9]{3})+|[0-9]+\\.[0-9]+");
  int found = 0;
  for (auto it = std::sregex_iterator(part.begin(), part.end(), figure);
       it != std::sregex_iterator(); ++it) {
    CAPTURE(it->str());
    CHECK_THAT(report, contains(it->str()));
    ++found;
  }
  return found;
}

/// All Markdown pages of a folder, one after another.
std::string pages_of(const std::filesystem::path& folder) {
  std::string text;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".md") text += file_text(file.path());
  return text;
}

}  // namespace

TEST_CASE("figures of the README stand in the reports of their column's GPU", "[golden]") {
  const std::string readme = file_text(root / "README.md");
  int columns = 0;
  for (const char* gpu : {"h200", "h100-80gb-hbm3"}) {
    const std::filesystem::path folder = root / "recordings" / gpu;
    const std::string report = file_text(folder / "report/README.md") +
                               file_text(folder / "model_validation/report/README.md");
    std::string column;
    for (const std::string& row : lines_of(quoting_part(readme, "figures"))) {
      std::istringstream cells(row);
      std::string cell;
      for (int i = 0; i <= columns + 2; ++i) std::getline(cells, cell, '|');
      if (cells) column += cell + "\n";
    }
    CAPTURE(gpu);
    CHECK(check_figures(column, report) > 10);
    ++columns;
  }
}

TEST_CASE("docs/ladder.md: each lesson's figures and code are its own", "[golden]") {
  const std::string page = file_text(root / "recordings/h200/gemm/report/ladder-fp32.md");
  const std::string ladder = file_text(root / "docs/ladder.md");
  CHECK(check_figures(ladder.substr(0, ladder.find("```mermaid")), page) > 0);
  CHECK(check_figures(ladder.substr(ladder.find("## What comes next")), page) == 3);
  std::string added, removed, parent, diff;
  int lessons = 0, code = 0, diagrams = 0;
  const auto lesson_of = [](const std::string& name) {
    return file_text(root / ("gemm/ladder/fp32/" + name + ".cu"));
  };
  for (const std::string& line : lines_of(ladder)) {
    if (line.starts_with("```")) diff = line;
    diagrams += line == "```text";
    if (diff == "```diff" && (line.starts_with('+') || line.starts_with('-')))
      (line[0] == '+' ? added : removed) += line.substr(1) + "\n";
    if (!line.starts_with("*Measured, `")) continue;
    CAPTURE(line);
    const std::string name = line.substr(12, line.find('`', 12) - 12), source = lesson_of(name);
    std::string rows;  // of this lesson, in both tables
    for (const std::string& row : lines_of(page))
      if (row.starts_with("| " + name + " |")) rows += row + "\n";
    CHECK(check_figures(line, rows) == (lessons == 0 ? 1 : 2));
    CHECK((line.find('~') != std::string::npos) == (rows.find('~') != std::string::npos));
    // The diagram's figure is in TFLOP/s, and as noisy.
    const std::regex throughput("\\| [0-9.]+ \\| ([0-9.]+(?: ~)?) \\|");
    std::smatch found;
    REQUIRE(std::regex_search(rows, found, throughput));
    CHECK_THAT(ladder, contains("<br>" + found[1].str() + "]"));
    const std::regex names_parent("\\.parent = \"([a-z0-9_/]+)\"");
    if (std::regex_search(source, found, names_parent)) parent = lesson_of(found[1]);
    for (const auto& [text, file] : {std::pair{&added, &source}, {&removed, &parent}}) {
      for (const std::string& piece : lines_of(*text)) {
        CHECK_THAT(*file, contains(piece + "\n"));
        ++code;
      }
      text->clear();
    }
    // The HTML page shows it too.
    CHECK(diagrams == ++lessons);
  }
  CHECK(lessons == 12);
  CHECK(code > 25);
}

TEST_CASE("figures of docs/slow-kernel.md stand in the recordings' pages", "[golden]") {
  std::string pages;
  for (const char* folder : {"h200/report", "h200/atlas/report", "h100-80gb-hbm3/report"})
    pages += pages_of(root / "recordings" / folder);
  // The Markdown page has their beginnings, and the HTML page all of them.
  for (const fathom::Claim& claim :
       fathom::read_document(root / "recordings/h200/result.json").claims)
    pages += claim.figure + "\n";
  for (const auto& [page, part, least] :
       {std::tuple{"atlas.md", "atlas figures", 5}, {"slow-kernel.md", "measured figures", 20}})
    CHECK(check_figures(quoting_part(file_text(root / "docs" / page), part), pages) > least);
}

TEST_CASE("The README has at most four screens and shows a real summary", "[golden]") {
  const std::string readme = file_text(root / "README.md");
  CHECK(readme.size() < 10'000);
  const std::size_t begin = readme.find("```\n") + 4;
  const fathom::Document document =
      fathom::read_document(root / "recordings/h100-80gb-hbm3/result.json");
  const auto card = fathom::reports::card_of(document, root / "recordings").value();
  const std::string summary = fathom::terminal_summary(document, false, &card);
  CHECK(summary.find("Card:") < summary.find("Verdict:"));
  int found = 0;
  for (const std::string& line :
       lines_of(readme.substr(begin, readme.find("```", begin) - begin))) {
    if (line.empty() || line == "  ...") continue;
    CHECK_THAT(summary, contains(line));
    ++found;
  }
  CHECK(found > 10);
}

TEST_CASE("pictures and documents that the README points to are there", "[golden]") {
  const std::string readme = file_text(root / "README.md");
  const std::regex path("(?:recordings|docs)/[A-Za-z0-9_./-]*[A-Za-z0-9]");
  int found = 0;
  for (auto it = std::sregex_iterator(readme.begin(), readme.end(), path);
       it != std::sregex_iterator(); ++it) {
    CAPTURE(it->str());
    CHECK(std::filesystem::exists(root / it->str()));
    ++found;
  }
  CHECK(found >= 10);
}

// The table of docs/gemm.md against the recording, cell by cell.

namespace {

using namespace fathom;

using Row = std::vector<std::string>;

/// Rows of the table whose heading begins with this word, without the heading.
std::vector<Row> table(const std::string& heading, const std::string& file) {
  std::vector<Row> rows;
  for (const std::string& line : lines_of(file_text(root / file))) {
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

/// A product of the contest.
struct Product {
  std::int64_t m, n;  ///< and k = n
  bool lasting;
};
/// In the order of the table's columns.
const std::vector<Product> products{{4096, 4096, false}, {4096, 4096, true},  {8192, 8192, false},
                                    {8192, 8192, true},  {4095, 4095, false}, {16, 8192, false},
                                    {128, 8192, false}};

const Document& recording() {
  static const Document document = read_document(root / "recordings/h200/gemm/result.json");
  return document;
}

/// A ladder of the tables.
struct Ladder {
  std::string name;        ///< as the tables have it
  std::string type, rung;  ///< an empty one: the last held against the library
};

/// In the order of the table's rows.
std::vector<Ladder> ladders() {
  std::vector<Ladder> all;
  for (const std::string name : {"fp32", "fp32 by 3xTF32", "fp64", "fp16", "bf16", "tf32"})
    all.push_back({name, name == "fp32 by 3xTF32" ? "fp32-3xtf32" : name, ""});
  all.push_back({"fp8, fast sums", "fp8", "02_fast_accumulation"});
  all.push_back({"fp8, promoted sums", "fp8", "01_promoted"});
  all.push_back({"int8", "int8", ""});
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

}  // namespace

TEST_CASE("the table of the ladder's figures is what was recorded, beside its goals", "[golden]") {
  const std::vector<Row> rows =
      table("Throughput over the faster of cuBLAS and cuBLASLt", "docs/gemm.md");
  REQUIRE(rows.size() == ladders().size());
  int goals = 0, missed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Ladder ladder = ladders()[i];
    REQUIRE(rows[i].size() == products.size() + 1);
    CHECK(rows[i][0] == ladder.name);
    for (std::size_t column = 0; column < products.size(); ++column) {
      const std::string& cell = rows[i][column + 1];
      CAPTURE(ladder.name, column, cell);
      const Entry* entry = entry_of(ladder, products[column]);
      CHECK(cell.substr(0, cell.find(' ')) == (entry == nullptr ? "-" : ratio_text(*entry)));
      const std::size_t goal = cell.find(" (");
      if (goal == std::string::npos) continue;
      ++goals;
      missed += entry != nullptr && ratio_to_opponents(*entry) < std::stod(cell.substr(goal + 2));
    }
  }
  CHECK(goals == 42);
  CHECK(missed == 25);
}
