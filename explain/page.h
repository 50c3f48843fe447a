#pragma once

#include <string>

#include "explain/analysis.h"

namespace fathom::explain {

/// What the program's run was, as the pages name it.
struct RunFacts {
  std::string command;  ///< as it was called
  double seconds = 0;   ///< that it ran
  std::string end;      ///< "exit status 0"
  Bounds bounds{};      ///< of its GPU
};

enum class Format { text, markdown };

std::string page_of(const Explanation& explanation, const RunFacts& run, Format format);
std::string json_of(const Explanation& explanation, const RunFacts& run);

}  // namespace fathom::explain
