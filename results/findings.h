#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

/// What is concluded from a probe's entries: pure, so that a recording gives the same answer.
struct Findings {
  std::string answer;  ///< one sentence with figures
  std::vector<Claim> claims;
  std::vector<View> views;
  std::string page, page_title;  ///< of the views that have a section, see ProbeSummary
  /// `probe` is filled in by put_findings, `published` too where models/published.h has a figure.
  std::vector<Fact> facts;
};

/// `entries` are one probe's, in order; some may lack (filtered, failed): say not_measured then.
using Conclude = std::function<Findings(std::span<const Entry> entries)>;

/// Puts what `conclude` makes of the probe's entries into the document, in the place of what it has
/// of this probe: answer, views and page, claims, and facts with what others published of the
/// document's GPU. The document has the probe's summary already, and may have other probes.
void put_findings(const std::string& probe, const Conclude& conclude, Document& document);

/// The same for a recorded document, with a note on who measured and who concluded. Entries, dates
/// and fingerprint stay as they are.
void conclude_again(const std::string& probe, const Conclude& conclude, Document& document);

// Views as most probes have them.

using Where = decltype(View::where);
/// What else a plot may have; its x label is the axis unless another is given.
struct PlotStyle {
  std::string x_label{}, y = "metric";
  bool x_log2 = false;
  bool y_log = false;  ///< which does not begin at zero
  bool bound = false, expected = false, overview = false;
};
/// With a line for each combination of the series' axes.
View plot(std::string title, Where where, std::string x, std::string y_label,
          std::vector<std::string> series, const PlotStyle& style = {}, std::string note = "");
View table(std::string title, Where where, std::vector<std::string> columns, std::string note = "");

}  // namespace fathom
