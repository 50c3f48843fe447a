#pragma once

#include <string>

#include "reports/gate/decision.h"
#include "results/error.h"

namespace fathom {

/// Where `fathom check` writes what it found, beside the terminal; empty: nowhere.
struct CheckOutputs {
  std::string markdown, junit, json;
  bool github = false;  ///< annotations, and the step's summary
};

/// Puts into each file that `check` has not ended, in place of what an earlier one found. So a
/// check that is killed leaves nobody else's result, and what cannot be written is known before
/// anything is measured. Throws Error(output_unwritable) and Error(output_full).
void begin_outputs(const CheckOutputs& outputs, gate::CheckResult check);

/// Writes what was found, to the terminal as well. Throws as above.
void publish(const CheckOutputs& outputs, const gate::CheckResult& result);

/// Writes why `check` ended without a decision, which the terminal hears as an error.
void publish_end(const CheckOutputs& outputs, gate::CheckResult check, const Error& why);

}  // namespace fathom
