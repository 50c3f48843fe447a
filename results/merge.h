#pragma once

#include <vector>

#include "results/document.h"

namespace fathom {

/// One document of the parts that the probes of one run left, in the order given: entries, probes,
/// claims, facts, and the warnings and bounds of any part, each once. The earliest date counts,
/// elapsed times add up, and the rest is the first part's. Throws Error(bad_input) naming both
/// parts and what differs unless they agree in fingerprint, source, suite, seed and Fathom's
/// version and commit, or if two of them hold the same probe, entry, claim or fact. Throws
/// std::invalid_argument for no parts.
Document merge_documents(const std::vector<Document>& parts);

}  // namespace fathom
