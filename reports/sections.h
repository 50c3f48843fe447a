#pragma once

#include <string>
#include <vector>

#include "reports/card_check.h"
#include "reports/facts.h"
#include "reports/markdown.h"
#include "results/document.h"

namespace fathom::reports {

/// What the sections of a report are written from and to.
struct PageContext {
  const Document& document;
  Page& page;
  std::string document_name;
  const CardCheck* card = nullptr;  ///< null: not checked
};

// The report's sections, in its order. Each writes its own heading.

void write_title(PageContext& to);
/// What a replay's page says first, and the line under the title: when, what, how long.
void write_origin(PageContext& to);
void write_verdict(PageContext& to);
/// How many counters are as expected, which is furthest from that, and why some are missing; empty
/// where none was asked for.
std::string counters_sentence(const EntryList& entries);
void write_environment(PageContext& to);
void write_bounds(PageContext& to);
void write_opponents(PageContext& to);
/// Nothing, not even a heading, where the document has no facts; where it has an atlas, the way
/// there.
void write_facts(PageContext& to);
void write_probes(PageContext& to);
/// The probe's views of that section: `whole`, all its tables; otherwise those alone that compare
/// it with others. The HTML page has the rest.
void write_views(PageContext& to, const ProbeSummary& probe, const std::string& section,
                 bool whole);
/// Its state in the HTML page.
std::string explore_probe(const std::string& probe, const std::string& section = "");
/// Entries as steps, each against the one before.
void write_steps(PageContext& to, const View& view, const EntryList& shown);
void write_claims(PageContext& to);
void write_method(PageContext& to);

/// The page of the memory hierarchy, which stands for itself; see has_atlas.
void write_atlas(PageContext& to);

/// Sections of the probe's views that have a page of their own, and the page's name beside the
/// report's README.md: "ladder-fp32.md".
std::vector<std::string> pages_of(const Document& document, const ProbeSummary& probe);
std::string page_file(const ProbeSummary& probe, const std::string& section);
void write_probe_page(PageContext& to, const ProbeSummary& probe, const std::string& section);

/// "NVIDIA H200", Markdown.
std::string gpu_title(const Document& document);

/// What a reader must know before any figure, one item each: why probes, or the `only` one, are not
/// complete, warnings and notes.
void add_state(const PageContext& to, const ProbeSummary* only, std::vector<std::string>& items);
/// "**2 entries failed a check** (which).", with a link into the report; nothing for none.
void add_failures(const VerdictTally& verdicts, const std::string& anchor,
                  std::vector<std::string>& items);

/// The entry's page in the HTML page; `text` is Markdown.
std::string entry_link(const Entry& entry, const std::string& text = "entry");

/// Where a probe's own section is.
std::string probe_anchor(const std::string& probe);

/// A column of a table, before it is Markdown.
struct Column {
  std::string name, unit;  ///< plain text; the header is "name (unit)"
  Align align = Align::left;
  std::vector<std::string> cells;  ///< Markdown
};

/// The column of a view: an axis, or one of the words of View::columns. `levels` are the view's.
Column make_column(const std::string& name, const EntryList& entries,
                   const std::vector<PlotLevel>& levels = {});

/// The table of columns; those that have one and the same cell in all of at least two rows are left
/// out and told instead, in `constant`: "block: 256 · verdict: ok" (Markdown).
Table make_table(const std::vector<Column>& columns, std::string& constant);

/// Entries that a view shows.
EntryList shown_by(const View& view, const EntryList& entries);

}  // namespace fathom::reports
