// What people read, byte for byte as it was last looked at. After a change that is meant:
//   FATHOM_UPDATE_GOLDEN=1 <build>/bin/golden_tests
// writes the files of this folder, and the recorded ladder's pages, anew; then look at what `git
// diff` says of them.

#include "reports/report.h"
#include "results/document_io.h"
#include "tests/testing.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

const std::filesystem::path golden = FATHOM_GOLDEN_FOLDER;

void compare(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("FATHOM_UPDATE_GOLDEN")) {
    std::ofstream(path, std::ios::binary) << text;
    SUCCEED("written anew");
    return;
  }
  REQUIRE(std::filesystem::exists(path));
  const std::string expected = file_text(path);
  if (text == expected) {
    SUCCEED();
    return;
  }
  // The first line that differs says more than two whole pages.
  const auto at = std::mismatch(text.begin(), text.end(), expected.begin(), expected.end());
  const auto line_at = [](const std::string& all, std::size_t place) {
    const std::size_t before = place == 0 ? std::string::npos : all.rfind('\n', place - 1);
    const std::size_t start = before == std::string::npos ? 0 : before + 1;
    return all.substr(start, all.find('\n', place) - start);
  };
  const auto place = static_cast<std::size_t>(at.first - text.begin());
  INFO(path.string() << ": is       " << line_at(text, place));
  INFO(path.string() << ": expected " << line_at(expected, place));
  FAIL("differs; if that is meant, run with FATHOM_UPDATE_GOLDEN=1 and look at the difference");
}

TEST_CASE("The sample document's report", "[golden]") {
  compare(golden / "sample_report.md", page_of(sample::document()));
}

TEST_CASE("A replay's report", "[golden]") {
  compare(golden / "replay_report.md", page_of(sample::replay()));
}

TEST_CASE("The sample document's atlas", "[golden]") {
  const TestFolder folder;
  compare(golden / "sample_atlas.md",
          file_text(write_report(sample::document(), folder.path()).atlas));
}

TEST_CASE("The recorded ladder's pages", "[golden]") {
  const auto recorded = std::filesystem::path(FATHOM_SOURCE_DIR) / "recordings/h200/gemm";
  const TestFolder folder;
  const auto pages =
      write_report(read_document(recorded / "result.json"), folder.path(), "result.json").pages;
  CHECK(pages.size() == 8);
  for (const auto& page : pages) compare(recorded / "report" / page.filename(), file_text(page));
}

TEST_CASE("The terminal's summary", "[golden]") {
  compare(golden / "sample_summary.txt", terminal_summary(sample::document(), false));
  compare(golden / "replay_summary_in_colour.txt", terminal_summary(sample::replay(), true));
}

}  // namespace
}  // namespace fathom
