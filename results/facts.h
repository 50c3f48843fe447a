#pragma once

#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

// Making facts of entries: what the probes' conclusions share.

/// Why there is no entry, as most facts have it.
inline constexpr const char* left_out = "its cases were left out of this run or failed";

/// What a fact is of, and what its value is counted in.
struct FactName {
  std::string id, subject, quantity;
  std::string unit{};
  Better better = Better::higher;
};

/// A fact that its caller gives a value or a reason yet.
Fact named_fact(FactName name);

/// A fact without a value and the reason why. `reason` must not be empty.
Fact missing_fact(FactName name, std::string reason);

/// The entry's metric as a fact, with its interval, bound and counters. The entry must have a
/// value; a name without a unit takes the metric's, and what is better of it.
Fact fact_of(const Entry& entry, FactName name, std::string method);

/// Why `entry`, which may be null, has no value; `absent` if it is not there at all.
std::string why_missing(const Entry* entry, std::string absent);

}  // namespace fathom
