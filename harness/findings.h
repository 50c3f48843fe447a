#pragma once

#include <filesystem>

#include "harness/probe.h"

namespace fathom {

/// Puts what `probe` concludes from its entries into the document, in the place of what it has of
/// this probe: answer, views and page, claims, and facts with what others published of the
/// document's GPU. The document has the probe's summary already, and may have other probes.
void put_findings(const Probe& probe, Document& document);

/// Measures nothing: writes the document at `from` to `to` with the conclusions that `probe` draws
/// today, and a note on who measured and who concluded. Entries, dates and fingerprint stay as they
/// are. Throws Error(bad_input) for a document without this probe, and what reading and writing
/// throw.
void conclude_again(const Probe& probe, const std::filesystem::path& from,
                    const std::filesystem::path& to);

}  // namespace fathom
