#pragma once

#include <string>
#include <vector>

#include "explain/analysis.h"

namespace fathom::explain {

/// A file of the program's source as it is now, in clean text (results/clean_text.h) with its line
/// breaks and tabs.
struct SourceText {
  std::string file;
  std::string text;
};

/// The files that lines name and that can be read, those of at most 1 MiB. The toolkit's headers
/// only where a line with a fault names them.
std::vector<SourceText> sources_of(const Explanation& explanation);

}  // namespace fathom::explain
