#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "harness/cases.h"
#include "probes/energy/loops.h"

namespace fathom::energy {

/// Watts of the active idle, once its case has run; what all loops are held against.
using Baseline = std::shared_ptr<std::optional<double>>;

std::vector<Case> rest_cases(const DeviceFacts& device, const Baseline& baseline);
std::vector<Case> memory_cases(const DeviceFacts& device, const Baseline& baseline);
std::vector<Case> instruction_cases(const DeviceFacts& device, const Baseline& baseline);

/// The case of a loop whose launch does `work`, without `prepare` and counters.
Case loop_case(std::string_view kind, std::string_view id, std::string_view subject, Per per,
               double work, const Baseline& baseline);

}  // namespace fathom::energy
