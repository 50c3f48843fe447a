#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "studies/gate/trials/journal.h"

namespace fathom::gate {

/// The counts of several journals in Markdown, with Clopper-Pearson intervals and the seconds that
/// decisions took, by the tool that decided, the newest first, to `folder`/trials.md. Returns the
/// page. Throws Error(bad_input) for a decision that is there twice.
std::string write_trial_summary(const std::vector<JournalText>& journals,
                                const std::filesystem::path& folder);

}  // namespace fathom::gate
