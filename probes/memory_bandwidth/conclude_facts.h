#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "results/document.h"

namespace fathom::memory_bandwidth {

// How an entry becomes a fact.

inline constexpr const char* left_out = "its cases were left out of this run or failed";
inline constexpr const char* no_clusters = "this GPU has no clusters, or its cases were left out";

std::optional<double> extra(const Entry& entry, const char* name);

/// Of the sectors loaded, the share that the L2 read; nothing where either was not counted.
std::optional<double> read_by_l2(const Entry& entry);

/// "ld.global.cg, 16 bytes a lane, 32 warps an SM, best of 7 cases, timed by events".
std::string method_of(const Entry& entry, std::size_t cases);

/// The entry's bandwidth with all that belongs to it.
Fact fact_of(const Entry& entry, std::string id, std::string subject, std::string quantity,
             std::string method);

/// A fact without a value, and why.
Fact missing_fact(std::string id, std::string subject, std::string quantity, std::string unit,
                  std::string reason);

}  // namespace fathom::memory_bandwidth
