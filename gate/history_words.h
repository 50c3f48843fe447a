#pragma once

#include <string>
#include <vector>

#include "gate/history.h"

namespace fathom::gate {

/// The machine and its suite, as the documents have them.
std::string title_of(const MachineHistory& history);

/// "30 runs of 229 metrics".
std::string extent_of(const MachineHistory& history);

/// Direction, change, kind, when, metric, from and to, what else changed: a row of a table.
std::vector<std::string> history_cells(const MachineHistory& history, const HistoryChange& change);

}  // namespace fathom::gate
