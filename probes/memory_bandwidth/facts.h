#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/document.h"
#include "results/facts.h"

namespace fathom::memory_bandwidth {

/// Bandwidth of every level by operation, in bytes per second and, of loads, in bytes per clock and
/// SM.
std::vector<Fact> level_facts(std::span<const Entry> entries);

/// What a level's bandwidth depends on: distributed shared memory by cluster size, the L2 by
/// instruction, working set and sharing; and DRAM's by its own counter.
std::vector<Fact> kind_facts(std::span<const Entry> entries);

/// How many SMs and how many bytes in flight saturate the L2 and DRAM. Needs a sweep that covers
/// it: the fewest measured must not be enough.
std::vector<Fact> saturation_facts(std::span<const Entry> entries);

// What entries say of how they became facts.

inline constexpr const char* no_clusters = "this GPU has no clusters, or its cases were left out";

std::optional<double> extra(const Entry& entry, const char* name);

/// The share of the loaded sectors that the L2 read; nothing where either was not counted.
std::optional<double> read_by_l2(const Entry& entry);

/// "ld.global.cg, 16 bytes a lane, 32 warps an SM, best of 7 cases, timed by events".
std::string method_of(const Entry& entry, std::size_t cases);

/// The bandwidth of the best case, or none because of `absent`. `note` follows the method.
Fact bandwidth_fact(const std::vector<const Entry*>& cases, FactName name, const char* absent,
                    const std::function<std::string(const Entry&)>& note = nullptr);

}  // namespace fathom::memory_bandwidth
