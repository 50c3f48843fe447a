#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// A figure that the README quotes must stand in a report of the recordings that it names.

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), {}};
}

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
    CHECK(report.find(it->str()) != std::string::npos);
    ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("The README's lines for CI stand in the ready workflows", "[golden]") {
  for (const auto& [file, lines] :
       {std::pair{
            "docs/gate/github.yaml",
            std::vector{
                "build/bin/fathom check --base build-base --head build --github --junit gate.xml",
                "if [ \"$code\" -ne 3 ]; then exit \"$code\"; fi"}},
        std::pair{
            "docs/gate/gitlab.yaml",
            std::vector{"build/bin/fathom check --base build-base --head build --junit gate.xml",
                        "tags: [gpu]", "exit_codes: [3]"}}}) {
    for (const char* page : {"README.md", "docs/gate.md", file}) {
      for (const char* line : lines) {
        CAPTURE(page, line);
        CHECK(text_of(root / page).find(line) != std::string::npos);
      }
    }
    CHECK(text_of(root / "README.md").find(std::string("(") + file + ")") != std::string::npos);
  }
}

TEST_CASE("figures of the README stand in the reports of the GPU that heads their column",
          "[golden]") {
  const std::string readme = text_of(root / "README.md");
  int columns = 0;
  for (const char* gpu : {"h200", "h100-80gb-hbm3"}) {
    const std::filesystem::path folder = root / "recordings" / gpu;
    const std::string report = text_of(folder / "report/README.md") +
                               text_of(folder / "model_validation/report/README.md");
    std::string column;
    std::istringstream rows(quoting_part(readme, "figures"));
    for (std::string row; std::getline(rows, row);) {
      std::istringstream cells(row);
      std::string cell;
      for (int i = 0; i <= columns + 2 && std::getline(cells, cell, '|'); ++i) {
        if (i == columns + 2) column += cell + "\n";
      }
    }
    CAPTURE(gpu);
    CHECK(check_figures(column, report) > 10);
    ++columns;
  }
}

TEST_CASE("figures of the atlas in the README stand in its recording's pages", "[golden]") {
  const std::string part = quoting_part(text_of(root / "README.md"), "atlas figures");
  const std::filesystem::path folder = root / "recordings/h200/atlas/report";
  if (!std::filesystem::exists(folder)) {
    CHECK(check_figures(part, "") == 0);  // nothing to quote from
    SKIP("the atlas is not recorded");
  }
  CHECK(check_figures(part, text_of(folder / "atlas.md") + text_of(folder / "README.md")) > 5);
}

TEST_CASE("figures of the ladder in the README stand in its recording's pages", "[golden]") {
  const std::filesystem::path folder = root / "recordings/h200/gemm/report";
  CHECK(check_figures(quoting_part(text_of(root / "README.md"), "ladder figures"),
                      text_of(folder / "ladder.md") + text_of(folder / "README.md")) > 20);
}

TEST_CASE("what the ladder is said to have reached stands in its recording's pages", "[golden]") {
  const std::filesystem::path folder = root / "recordings/h200/gemm/report";
  CHECK(check_figures(quoting_part(text_of(root / "docs/gemm/reached.md"), "reached figures"),
                      text_of(folder / "ladder.md") + text_of(folder / "README.md")) > 40);
}

TEST_CASE("pictures and documents that the README points to are there", "[golden]") {
  const std::string readme = text_of(root / "README.md");
  const std::regex path("recordings/[A-Za-z0-9_./-]+");
  int found = 0;
  for (auto it = std::sregex_iterator(readme.begin(), readme.end(), path);
       it != std::sregex_iterator(); ++it) {
    CAPTURE(it->str());
    CHECK(std::filesystem::exists(root / it->str()));
    ++found;
  }
  CHECK(found >= 3);
}
