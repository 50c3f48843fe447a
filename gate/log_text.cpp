#include "gate/log_text.h"

#include "results/clean_text.h"

namespace fathom::gate {

std::string log_text(std::string_view raw) {
  std::string text = clean(raw);
  // A space inside what would begin a command; the reader sees what it was.
  const auto start = text.find_first_not_of(' ');
  if (start != std::string::npos && std::string_view(text).substr(start).starts_with("::"))
    text.insert(start + 1, " ");
  for (auto at = text.find("##"); at != std::string::npos; at = text.find("##", at))
    text.insert(++at, " ");
  return text;
}

}  // namespace fathom::gate
