// What people read, byte for byte as it was last looked at. After a change that is meant:
//   FATHOM_UPDATE_GOLDEN=1 <build>/bin/golden_tests
// writes the files of this folder anew; then look at what `git diff` says of them.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "reports/report.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"
#include "tests/unit/sample_ladder.h"

namespace fathom {
namespace {

void compare(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(FATHOM_GOLDEN_FOLDER) / name;
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
  INFO(name << ": is       " << line_at(text, place));
  INFO(name << ": expected " << line_at(expected, place));
  FAIL("differs; if that is meant, run with FATHOM_UPDATE_GOLDEN=1 and look at the difference");
}

TEST_CASE("The sample document's report", "[golden]") {
  compare("sample_report.md", page_of(sample::document()));
}

TEST_CASE("A replay's report", "[golden]") {
  compare("replay_report.md", page_of(sample::replay()));
}

TEST_CASE("The sample document's atlas", "[golden]") {
  const ReportFolder folder;
  compare("sample_atlas.md", file_text(write_report(sample::document(), folder.path()).atlas));
}

TEST_CASE("The sample ladder's page", "[golden]") {
  const ReportFolder folder;
  const ReportPaths paths = write_report(sample::ladder_document(), folder.path());
  REQUIRE(paths.pages.size() == 2);
  CHECK(paths.pages.front().filename() == "ladder-fp32.md");
  compare("sample_ladder.md", file_text(paths.pages.front()));
}

TEST_CASE("The terminal's summary", "[golden]") {
  compare("sample_summary.txt", terminal_summary(sample::document(), false));
  compare("replay_summary_in_colour.txt", terminal_summary(sample::replay(), true));
}

}  // namespace
}  // namespace fathom
