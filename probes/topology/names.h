#pragma once

// Names of axes' values, which the cases give and the conclusions look for.

namespace fathom::topology {

inline constexpr const char* latency_sweep = "latency";
inline constexpr const char* cluster_sweep = "clusters";
inline constexpr const char* pair_sweep = "pairs";
/// Blocks that find room on an SM while clusters of two are counted.
inline constexpr int pair_blocks_per_sm = 4;

inline constexpr const char* load_instruction = "ld.global.cg";
inline constexpr const char* atomic_instruction = "atom.global.add";

/// On the axis "SM": an entry whose profile has all SMs, one after the other.
inline constexpr const char* all_sms = "all";

/// Names of disjoint sets of lines, and of two halves of the launches.
inline constexpr const char* set_names[] = {"first", "second"};

}  // namespace fathom::topology
