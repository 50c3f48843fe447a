#pragma once

#include <string>
#include <vector>

#include "fleet/causes.h"
#include "fleet/fleet.h"
#include "fleet/outliers.h"
#include "reports/markdown.h"
#include "reports/scale.h"

namespace fathom::fleet {

using reports::code;
using reports::escape_text;
using reports::quantity;
using reports::Table;

/// What the sections of a fleet's report are written from and to.
struct FleetWriting {
  const Fleet& fleet;
  const Outliers& outliers;
  reports::Page& page;
  Causes causes{fleet, outliers};
};

// The report's sections in its order; each writes its own heading, and nothing where it has nothing
// to say.

/// What an operator wants first: who is slow, in what, by how much and why; what is missing.
/// Without a heading.
void write_headlines(FleetWriting& to);
void write_worst(FleetWriting& to);
void write_problems(FleetWriting& to);
void write_settings(FleetWriting& to);
void write_losses(FleetWriting& to);
void write_links(FleetWriting& to);
void write_distributions(FleetWriting& to);
/// All cards and figures of one host.
void write_host(FleetWriting& to, const std::string& host);

/// A column of text, and one of figures.
inline Table::Column left(std::string header) { return {std::move(header)}; }
inline Table::Column right(std::string header) {
  return {std::move(header), reports::Align::right};
}

/// "8 GPUs on 1 host"
std::string counts_text(const Fleet& fleet);

/// "1.23 %" worse or "-0.4 %" better; what no fault makes of a card is said as such.
std::string gap_text(double gap);

/// The likely causes in words; what to say where there are none.
std::string cause_text(const std::vector<std::string>& causes);

}  // namespace fathom::fleet
