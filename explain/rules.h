#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "explain/trace.h"
#include "models/warp_access.h"
#include "results/names.h"

namespace fathom::explain {

enum class Rule { stride, misalignment, scatter, bank_conflict, partial_warp };

/// What is wrong with an access, and what to do about it.
struct Fault {
  Rule rule = Rule::stride;
  std::string what;  ///< "lanes 16 bytes apart"
  std::string fix;   ///< one sentence without a full stop

  friend bool operator==(const Fault&, const Fault&) = default;
};

/// What one warp instruction costs by the models, and the rule that makes it cost more than the
/// least: sectors of global memory, wavefronts of shared memory.
struct PatternCost {
  int cost = 0, least = 0;
  std::optional<Fault> fault;
  int saved = 0;  ///< by the fix
};

/// Throws std::invalid_argument as the models do. Atomics break no rule: they have no model.
PatternCost cost_of(const Pattern& pattern);

}  // namespace fathom::explain

template <>
inline constexpr auto fathom::enum_words<fathom::explain::Rule> = std::to_array<std::string_view>(
    {"stride", "misalignment", "scatter", "bank conflict", "partial warp"});
