#pragma once

#include "results/document.h"

namespace fathom {

/// Adds a part that another probe of the same run left: entries, probes, claims, facts, and those
/// of its warnings, notes and bounds that are not there yet. The earliest date counts, elapsed
/// times add up, and the rest stays the run's. Throws Error(bad_input), and adds nothing, unless
/// they agree in fingerprint, source, suite, seed and Fathom's version and commit.
void add_part(Document& run, const Document& part);

}  // namespace fathom
