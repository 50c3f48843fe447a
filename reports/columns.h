#pragma once

#include <string>
#include <vector>

#include "reports/facts.h"
#include "reports/markdown.h"
#include "results/document.h"

namespace fathom::reports {

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
