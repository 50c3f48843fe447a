#pragma once

#include <string>

#include "tools/manual/command_tree.h"

namespace fathom::manual {

/// "fathom-predict-shared", of the page in section 1.
std::string page_name(const CommandHelp& command);

/// The page of a command in roff. `date` is ISO 8601's.
std::string man_page(const CommandHelp& command, const std::string& version,
                     const std::string& date);

}  // namespace fathom::manual
