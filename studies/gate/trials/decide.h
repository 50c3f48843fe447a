#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/child_process.h"
#include "studies/gate/trials/journal.h"

namespace fathom::gate {

/// What a decision is made with.
struct TrialSetup {
  std::filesystem::path fathom, victim, load;  ///< programs
  std::string base, head, suite;               ///< builds or commands; empty: the victim
  std::filesystem::path keep;                  ///< the rounds' results stay there; empty: they go
  bool resumes = false;  ///< a decision that was cut may have left rounds in `keep`: they go
};

/// The victim's metrics by name. Throws Error(setup_incomplete) if it does not tell.
std::vector<std::string> victim_metrics(const TrialSetup& setup);

/// "fathom 0.1.0 (1a2b3c4d)". Throws Error(setup_incomplete) for a program that does not say.
std::string tool_of(const TrialSetup& setup);

/// One run of `fathom check` with what the plan does to it; nothing once the user has asked for an
/// end. Throws Error with the exit code of a check that could not decide for reasons of its own
/// (bad input, a folder that cannot be written).
std::optional<TrialRecord> decide(const TrialSetup& setup, const TrialPlan& plan,
                                  double expected_s);

}  // namespace fathom::gate
