#pragma once

#include <string>

#include "fleet/fleet.h"
#include "fleet/outliers.h"
#include "reports/markdown.h"

namespace fathom::fleet {

/// The report's sections on the whole fleet; none for what there is nothing to say of.
void write_sections(reports::Page& page, const Fleet& fleet, const Outliers& outliers);

/// All cards and figures of one host.
void write_host(reports::Page& page, const Fleet& fleet, const std::string& host);

/// "1.23 %" worse or "-0.4 %" better; what no fault makes of a card is said as such.
std::string gap_text(double gap);

/// The likely causes in words; what to say where there are none.
std::string cause_text(const Finding& finding);

}  // namespace fathom::fleet
