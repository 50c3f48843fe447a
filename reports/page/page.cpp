#include "reports/page/page.h"

#include <fmt/format.h>

#include "reports/page/assets.h"

namespace fathom::reports {
namespace {

/// The template's `{{name}}` marks, each with its text; a text is not searched for further marks.
std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string_view>>& parts) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t begin = text.find("{{", at);
    if (begin == text.npos) return out.append(text.substr(at));
    const std::size_t end = text.find("}}", begin);
    const std::string_view name = text.substr(begin + 2, end - begin - 2);
    out.append(text.substr(at, begin - at));
    const auto part = std::ranges::find(parts, name, [](const auto& each) { return each.first; });
    if (part == parts.end())
      throw std::logic_error(fmt::format("page.html names an unknown part: {}", name));
    out.append(part->second);
    at = end + 2;
  }
}

}  // namespace

std::string html_page(const std::vector<ShownDocument>& documents, const Explained& explained) {
  const std::string data = page_data(documents, explained);
  return filled(page_template(), {{"style", page_style()},
                                  {"library", chart_library()},
                                  {"data", data},
                                  {"script", page_script()}});
}

}  // namespace fathom::reports
