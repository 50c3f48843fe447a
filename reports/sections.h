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
/// The tables of all facts, a heading for each probe.
void write_facts_by_probe(PageContext& to);
/// Probes that have facts: those that say most of the memory's levels first, the others in the
/// document's order.
std::vector<std::string> probes_with_facts(const Document& document);
/// The memory's levels as a table. Nothing where facts name too few of them.
void write_levels(PageContext& to);
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

std::vector<std::string> view_sections(const ProbeSummary& probe);
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

/// Why a probe is not complete, to end a sentence with (Markdown, no full stop).
std::string reason_of(const ProbeSummary& probe);

/// The entry's page in the HTML page; `text` is Markdown.
std::string entry_link(const Entry& entry, const std::string& text = "entry");

/// Where a probe's own section is.
std::string probe_anchor(const std::string& probe);

}  // namespace fathom::reports
