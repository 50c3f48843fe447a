#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/document.h"
#include "results/text.h"

namespace fathom::reports {

/// Text as it stands, in GitHub's Markdown: nothing in it becomes markup, a table's border or HTML.
/// What cannot be seen is named (results/text.h).
std::string escape_text(std::string_view text);

/// The same for the text and the attributes of XML and HTML.
std::string escape_xml(std::string_view text);

/// A code span that is safe in a table too.
std::string code(std::string_view text);

/// Number of code points.
std::size_t width(std::string_view text);

/// Lower-case letters, digits, "_" and "-" only, at most 60 of them: for files and anchors.
std::string slug(std::string_view text);

/// Headers and cells are Markdown already. Where a header begins with ">", which it does not show,
/// the column stands on the right: one of figures.
class Table {
 public:
  explicit Table(std::vector<std::string> headers) : headers_(std::move(headers)) {}
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::size_t rows() const { return rows_.size(); }
  std::size_t columns() const { return headers_.size(); }
  std::string markdown() const;

 private:
  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
};

/// A page under construction. Every heading and caption of a replay is marked as such.
class Page {
 public:
  /// Rows of a table.
  static constexpr std::size_t most_shown = 30;

  explicit Page(bool replay) : replay_(replay) {}

  /// `text` is Markdown. Returns the anchor, which is `wanted` or, if the page has that already,
  /// `wanted` with a number.
  std::string heading(int level, const std::string& text, const std::string& wanted);
  void paragraph(const std::string& markdown);
  void list(const std::vector<std::string>& items);
  /// Where the HTML page beside this one shows the tables that follow: "view=probes&probe=links".
  void explore(const std::string& state) { explore_ = state; }
  /// A table under its caption, and beside that what holds for all rows; one of more rows than
  /// `shown` is a link to the HTML page, or where there is none opens on a click. Nothing if there
  /// are no rows. `caption` and `common` are text from escape_text. Returns whether it is there.
  bool table(const std::string& caption, const Table& table, const std::string& common = "",
             std::size_t shown = most_shown);

  std::string text() const;

 private:
  std::string mark() const { return replay_ ? "REPLAY · " : ""; }

  bool replay_;
  std::set<std::string> anchors_;
  std::string explore_;
  std::string text_;
};

/// Part of an address: whatever could end a link is written as %XX.
std::string url_encoded(std::string_view text);

/// A link to the HTML page beside this one, in that state; `text` is Markdown.
std::string explore_link(const std::string& text, const std::string& state);

/// A figure with its own prefix, for a table whose rows have several units: number and unit stay on
/// one line; "–" for nothing. Markdown.
std::string quantity(const std::optional<double>& value, const std::string& unit);

/// "copy_bandwidth" to "copy bandwidth": names of the document, for headers.
std::string spaced(std::string name);

/// For text of the document, a sentence or not, inside a sentence of the report.
std::string without_full_stop(std::string text);

/// Text with its first letter in upper case.
std::string capitalised(std::string text);

/// Columns of a usual terminal window.
inline constexpr std::size_t line_width = 100;

/// Lines of at most `width_wanted`, broken between words; a longer word has a line of its own.
std::vector<std::string> wrapped(const std::string& text, std::size_t width_wanted);

}  // namespace fathom::reports
