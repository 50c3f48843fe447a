#pragma once

#include <string>
#include <string_view>

namespace fathom::gate {

/// Text of a document for a line of a terminal, which may be that of a CI job's log: no line break,
/// nothing that a terminal obeys, and nothing that a CI server takes for a command: "::error ..."
/// at the start of a line (GitHub), "##[...]" and "##vso[...]" anywhere (GitHub, Azure).
std::string log_text(std::string_view text);

}  // namespace fathom::gate
