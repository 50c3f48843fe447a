#include "reports/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "results/text.h"

namespace fathom::reports {
namespace {

bool is_any_of(char c, std::string_view those) { return those.find(c) != those.npos; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string entity(char c) {
  for (const auto& [sign, text] :
       {std::pair{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}})
    if (c == sign) return text;
  return std::string(1, c);
}

}  // namespace

std::string escape_text(std::string_view raw) {
  const std::string text = clean(raw);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inside_word =
        i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
    // A backslash before | does not survive every renderer of tables, and GitHub reads a pair of $
    // as mathematics.
    if (is_any_of(c, "<>&"))
      out += entity(c);
    else if (is_any_of(c, "|$"))
      out += fmt::format("&#{};", static_cast<int>(c));
    else if (is_any_of(c, "\\`*[]~") || (c == '_' && !inside_word))
      out += {'\\', c};
    else
      out += c;
  }
  // At the start of a line these would make a list, a heading or a rule.
  const std::size_t start = out.find_first_not_of(' ');
  if (start == std::string::npos) return "";
  out.erase(0, start);
  if (is_any_of(out.front(), "-+#=")) out.insert(0, "\\");
  const std::size_t digits = out.find_first_not_of("0123456789");
  if (digits != std::string::npos && digits > 0 && (out[digits] == '.' || out[digits] == ')') &&
      (digits + 1 == out.size() || out[digits + 1] == ' ')) {
    out.insert(digits, "\\");
  }
  return out;
}

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : clean(text)) out += entity(c);
  return out;
}

std::string code(std::string_view raw) {
  const std::string text = clean(raw);
  const bool plain = !text.empty() && text.front() != ' ' && text.back() != ' ' &&
                     text.find_first_of("`|<>&\"\\") == std::string::npos;
  if (plain) return "`" + text + "`";
  std::string out = "<code>";
  for (const char c : text)
    out += is_any_of(c, "`|\\*_[]~$") ? fmt::format("&#{};", static_cast<int>(c)) : entity(c);
  return out + "</code>";
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width_wanted) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    if (lines.empty() || width(lines.back()) + 1 + width(word) > width_wanted) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  return lines;
}

std::string slug(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_word(c) || c == '_')
      out += static_cast<char>(std::tolower(c));
    else if (!out.empty() && out.back() != '-')
      out += '-';
    if (out.size() >= 60) break;
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "unnamed" : out;
}

std::string url_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += is_word(c) || is_any_of(c, "-._~:/")
               ? std::string(1, c)
               : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string explore_link(const std::string& text, const std::string& state) {
  return fmt::format("[{}](index.html#{})", text, state);
}

std::string Table::markdown() const {
  std::string out = "|", rule = "|";
  for (const std::string& header : headers_) {
    const bool right = header.starts_with('>');
    out += " " + header.substr(right) + " |";
    rule += right ? " ---: |" : " --- |";
  }
  out += "\n" + rule + "\n";
  for (const std::vector<std::string>& row : rows_) {
    out += "|";
    for (const std::string& cell : row) out += (cell.empty() ? " " : " " + cell + " ") + "|";
    out += "\n";
  }
  return out;
}

std::string Page::heading(int level, const std::string& text, const std::string& wanted) {
  std::string anchor = wanted;
  for (int n = 2; !anchors_.insert(anchor).second; ++n) anchor = fmt::format("{}-{}", wanted, n);
  text_ += fmt::format("<a id=\"{}\"></a>\n\n{} {}{}\n\n", anchor, std::string(level, '#'), mark(),
                       text);
  return anchor;
}

void Page::paragraph(const std::string& markdown) { text_ += markdown + "\n\n"; }

void Page::list(const std::vector<std::string>& items) {
  for (const std::string& item : items) text_ += "- " + item + "\n";
  if (!items.empty()) text_ += "\n";
}

bool Page::table(const std::string& caption, const Table& table, const std::string& common,
                 std::size_t shown) {
  if (table.rows() == 0) return false;
  const bool long_one = table.rows() > shown;
  const std::string rows = fmt::format("{} row{}", table.rows(), table.rows() == 1 ? "" : "s");
  const std::string all_rows = common.empty() ? "" : " · all rows: " + common;
  if (long_one && !explore_.empty()) {
    text_ += fmt::format("{}**{}**: {}.\n\n", mark(), caption,
                         explore_link(rows + " in the HTML page", explore_));
    return false;
  }
  text_ += fmt::format("**{}{}**{}\n\n", mark(), caption, all_rows);
  text_ += long_one ? fmt::format("<details>\n<summary>{}</summary>\n\n{}\n</details>\n\n", rows,
                                  table.markdown())
                    : table.markdown() + "\n";
  return true;
}

std::string Page::text() const {
  std::string out = text_;
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string quantity(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "–";
  std::string text = escape_text(format_quantity(*value, unit));
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at)) {
    text.replace(at, 1, "\u00A0");
  }
  return text;
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string without_full_stop(std::string text) {
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  return text;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
  return text;
}

}  // namespace fathom::reports
