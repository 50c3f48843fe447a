#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/facts.h"
#include "reports/markdown.h"
#include "reports/plot.h"
#include "results/document.h"

namespace fathom::reports {

/// The pictures of a report: all of its pages show the same files.
class Pictures {
 public:
  /// Draws into the folder, to files that begin with `stem`.
  using Draw = std::function<std::optional<Picture>(const std::filesystem::path& folder,
                                                    const std::string& stem)>;

  Pictures(std::filesystem::path folder, std::string problem)
      : folder_(std::move(folder)), problem_(std::move(problem)) {}
  /// Why there are no pictures; empty: there are.
  const std::string& problem() const { return problem_; }
  /// The picture of that key, drawn if no page has asked for it yet; null if there is none. A stem
  /// that another picture has gets a number.
  const Picture* get(const std::string& key, const std::string& stem, const Draw& draw);
  /// Files written so far.
  const std::vector<std::filesystem::path>& written() const { return written_; }

 private:
  std::filesystem::path folder_;
  std::string problem_;
  std::map<std::string, std::optional<Picture>> drawn_;
  std::set<std::string> stems_;
  std::vector<std::filesystem::path> written_;
};

/// What the sections of a report are written from and to.
struct Writing {
  const Document& document;
  Page& page;
  Pictures& pictures;
  std::string document_name;

  /// Puts a picture on the page, as Pictures::get has it; null if there is none.
  const Picture* show(const std::string& key, const std::string& stem, const Pictures::Draw& draw);
};

// The report's sections, in its order. Each writes its own heading.

void write_title(Writing& to);
/// What a replay's page says first, and the line under the title: when, what, how long.
void write_origin(Writing& to);
void write_verdict(Writing& to);
void write_environment(Writing& to);
void write_bounds(Writing& to);
void write_opponents(Writing& to);
/// Nothing, not even a heading, where the document has no facts; where it has an atlas, the way
/// there.
void write_facts(Writing& to);
/// The tables of all facts, a heading for each probe.
void write_facts_by_probe(Writing& to);
/// Probes that have facts: those that say most of the memory's levels first, the others in the
/// document's order.
std::vector<std::string> probes_with_facts(const Document& document);
/// Nothing where facts name too few of its levels.
void write_hierarchy(Writing& to);
void write_probes(Writing& to);
/// One view of a probe, by its number: a picture with its note, or a table.
void write_view(Writing& to, const ProbeSummary& probe, std::size_t view);
/// Entries as steps, each against the one before.
void write_steps(Writing& to, const View& view, const EntryList& shown);
void write_claims(Writing& to);
/// Their table, and the entries that they rest on.
void write_claims_table(Writing& to, const std::vector<const Claim*>& claims);
void write_counters(Writing& to);
void write_method(Writing& to);
void write_raw_data(Writing& to);

/// The page of the memory hierarchy, which stands for itself; see has_atlas.
void write_atlas(Writing& to);

/// Whether the probe has a page of its own, and the page's name beside the report's README.md.
bool has_page(const Document& document, const ProbeSummary& probe);
std::string page_file(const ProbeSummary& probe);
void write_probe_page(Writing& to, const ProbeSummary& probe);

/// "NVIDIA H200", Markdown.
std::string gpu_title(const Document& document);

/// Why a probe is not complete, to end a sentence with (Markdown, no full stop).
std::string reason_of(const ProbeSummary& probe);

/// Where a probe's own section is.
std::string probe_anchor(const std::string& probe);

}  // namespace fathom::reports
