#include "reports/plot_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::plots {
namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
  return text;
}

/// The first `count` code points.
std::string first_of(const std::string& text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (starts_code_point(text[at]) && count-- == 0) break;
  }
  return text.substr(0, at);
}

}  // namespace

std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string shortened(const std::string& text, std::size_t limit) {
  if (length(text) <= limit) return text;
  return first_of(text, limit - 1) + "…";
}

std::vector<std::string> wrapped(const std::string& text, std::size_t limit, std::size_t lines) {
  std::vector<std::string> result;
  std::string rest = text;
  while (result.size() + 1 < lines && length(rest) > limit) {
    const std::string line = first_of(rest, limit + 1);
    const std::size_t space = line.rfind(' ');
    const bool breakable = space != std::string::npos && space > 0;
    const std::string head = breakable ? line.substr(0, space) : first_of(rest, limit);
    result.push_back(head);
    rest = rest.substr(head.size() + (breakable ? 1 : 0));
  }
  result.push_back(shortened(rest, limit));
  return result;
}

std::string quoted(const std::vector<std::string>& lines) {
  std::string constant = "\"";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) constant += "\\n";
    for (const char byte : lines[i]) {
      const auto code = static_cast<unsigned char>(byte);
      // Digits are escaped too: after an escape, gnuplot 5.4 takes one for a fourth octal digit.
      const bool plain = code >= 0x80 || (byte >= 'a' && byte <= 'z') ||
                         (byte >= 'A' && byte <= 'Z') || byte == ' ';
      constant += plain ? std::string(1, byte) : fmt::format("\\{:03o}", code);
    }
  }
  return constant + "\"";
}

std::string quoted(const std::string& text) { return quoted(std::vector<std::string>{text}); }

std::string quoted_tick(const std::string& text) { return quoted(replaced(text, "%", "%%")); }

}  // namespace fathom::plots
