#pragma once

#include <map>
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

/// What json_of takes along: the files that lines name and that can be read, those of at most
/// 1 MiB, each as it is now, in clean text (results/clean_text.h) with its line breaks and tabs.
/// The toolkit's headers only where a line with a fault names them.
std::map<std::string, std::string> sources_of(const Explanation& explanation);

}  // namespace fathom::explain
