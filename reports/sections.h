#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reports/markdown.h"
#include "reports/plot.h"
#include "results/document.h"

namespace fathom::reports {

/// What the sections of a report are written from and to.
struct Writing {
  const Document& document;
  Page& page;
  std::filesystem::path folder;  ///< where pictures go
  std::string document_name;
  std::string gnuplot_problem;                  ///< why there are no pictures; empty: there are
  std::vector<std::filesystem::path> pictures;  ///< written so far
  std::set<std::string> stems;                  ///< their names so far

  /// `wanted`, or, if a picture has that name already, `wanted` with a number.
  std::string stem(const std::string& wanted);
  /// Puts a picture on the page; says whether there was one.
  bool show(const std::optional<Picture>& picture);
};

// The report's sections, in its order. Each writes its own heading.

void write_title(Writing& to);
void write_verdict(Writing& to);
void write_environment(Writing& to);
void write_bounds(Writing& to);
void write_opponents(Writing& to);
/// Nothing, not even a heading, where the document has no facts.
void write_facts(Writing& to);
void write_probes(Writing& to);
void write_claims(Writing& to);
void write_counters(Writing& to);
void write_method(Writing& to);
void write_raw_data(Writing& to);

/// Why a probe is not complete, to end a sentence with (Markdown, no full stop).
std::string reason_of(const ProbeSummary& probe);

/// Where a probe's own section is.
std::string probe_anchor(const std::string& probe);

}  // namespace fathom::reports
