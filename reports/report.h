#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

// What people read of a result document. The same document gives the same bytes, on every machine
// that has the same gnuplot, and of a replay every heading, caption and picture says REPLAY.

struct ReportPaths {
  std::filesystem::path readme;
  std::filesystem::path atlas;                  ///< empty where the document has none
  std::vector<std::filesystem::path> pages;     ///< of probes that have their own
  std::vector<std::filesystem::path> pictures;  ///< empty without gnuplot
};

/// Writes `folder`/README.md, in GitHub's Markdown, and the pictures that it shows beside it; and,
/// where the document's facts name at least two levels of the memory hierarchy, `folder`/atlas.md,
/// which has these on one page; and the page of each probe that names one, as `folder`/ladder.md. Makes the
/// folder. Without gnuplot the report has its tables, and
/// says what is missing. `document_name` is the file that the report names as its source. Throws
/// Error(output_unwritable) or Error(output_full).
ReportPaths write_report(const Document& document, const std::filesystem::path& folder,
                         const std::string& document_name = "result.json");

/// The run in a screen of plain text, without a final line break: what each probe found, verdicts,
/// claims and warnings. `colour`: with ANSI colours for what is good and bad.
std::string terminal_summary(const Document& document, bool colour);

}  // namespace fathom
