#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

enum class Align { left, right };

/// Headers and cells are Markdown already.
class Table {
 public:
  struct Column {
    std::string header;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::size_t rows() const { return rows_.size(); }
  std::size_t columns() const { return columns_.size(); }
  std::string markdown() const;

 private:
  std::vector<Column> columns_;
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

}  // namespace fathom::reports
