#pragma once

#include "explain/analysis.h"

namespace fathom::explain {

/// By CUPTI's reader of line tables, which needs neither a GPU nor permission; nothing where there
/// is no CUPTI. The toolkit has it, and Fathom's sampling of the program counter uses it too.
std::optional<SourceLine> line_by_cupti(const std::vector<char>& code, const std::string& function,
                                        std::uint64_t offset);

}  // namespace fathom::explain
