// What people read, byte for byte as it was last looked at. After a change that is meant:
//   FATHOM_UPDATE_GOLDEN=1 <build>/bin/golden_tests
// writes the files of this folder, and the recordings' pages, anew; then look at what `git diff`
// says of them. Text files that no test names here are those of unit_tests, claims_tests and
// unit_cuda_tests, which write them likewise.

#include "reports/recordings.h"
#include "reports/report.h"
#include "results/document_io.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"
#include "tools/commands.h"

using namespace fathom;

const std::filesystem::path golden = FATHOM_GOLDEN_FOLDER;

TEST_CASE("The sample document's pages and summaries", "[golden]") {
  check_golden(golden / "sample_report.md", page_of(sample::document()));
  check_golden(golden / "replay_report.md", page_of(sample::replay()));
  const TestFolder folder;
  check_golden(golden / "replay_atlas.md",
               file_text(write_report(sample::replay(), folder.path()).atlas));
  check_golden(golden / "sample_summary.txt", terminal_summary(sample::document(), false));
  check_golden(golden / "replay_summary_in_colour.txt", terminal_summary(sample::replay(), true));
}

TEST_CASE("The pages of the recordings", "[golden]") {
  const auto recordings = std::filesystem::path(FATHOM_SOURCE_DIR) / "recordings";
  int pages = 0;
  for (const auto& at : std::filesystem::recursive_directory_iterator(recordings)) {
    const std::filesystem::path document = at.path() / "result.json", kept = at.path() / "report";
    if (!std::filesystem::exists(document) || !std::filesystem::exists(kept)) continue;
    const Document recorded = read_document(document);
    const auto card = reports::card_of(recorded, recordings);
    const TestFolder folder;
    write_report(recorded, folder.path(), "result.json", card ? &*card : nullptr);
    for (const auto& page : std::filesystem::directory_iterator(folder.path())) {
      check_golden(kept / page.path().filename(), file_text(page.path()));
      ++pages;
    }
  }
  CHECK(pages == 15);
}
