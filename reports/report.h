#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/card_check.h"
#include "results/document.h"

namespace fathom {

// What people read of a result document. The same document gives the same bytes, and of a replay
// every heading and caption says REPLAY.

struct ReportPaths {
  std::filesystem::path readme;
  std::filesystem::path atlas;               ///< empty where the document has none
  std::vector<std::filesystem::path> pages;  ///< of probes that have their own
};

/// Writes `folder`/README.md, in GitHub's Markdown; where the document's facts name at least two
/// levels of the memory hierarchy, `folder`/atlas.md, which has these on one page; and the pages of
/// each probe that names one, as `folder`/ladder-fp32.md. Makes the folder. Curves and long tables
/// are links to index.html, the HTML page that belongs beside them (reports/page/page.h).
/// `document_name` is the file that the report names as its source. `card`: null
/// where it was not checked. Throws Error(output_unwritable) or Error(output_full).
ReportPaths write_report(const Document& document, const std::filesystem::path& folder,
                         const std::string& document_name = "result.json",
                         const reports::CardCheck* card = nullptr);

/// The run in a screen of plain text, without a final line break: the card check, what each probe
/// found, verdicts, claims and warnings. `colour`: with ANSI colours for what is good and bad.
std::string terminal_summary(const Document& document, bool colour,
                             const reports::CardCheck* card = nullptr);

}  // namespace fathom
