#include "results/json_place.h"

#include <fmt/format.h>

#include "results/clean_text.h"
#include "results/fail.h"

namespace fathom {

std::string JsonPlace::path() const {
  const std::string before = parent ? parent->path() : "";
  if (index) return fmt::format("{}/{}", before, *index);
  return parent ? before + "/" + quotable(key) : before;
}

void JsonPlace::refuse(const std::string& what) const {
  std::string where = path();
  constexpr std::size_t most_quoted = 160;  // the end of a long path says more
  if (where.size() > most_quoted) where.replace(0, where.size() - most_quoted, "...");
  fail(ExitCode::document_malformed, "{}: {} {}.", *origin, where.empty() ? "the document" : where,
       what);
}

}  // namespace fathom
