#pragma once

// Names of axes' values, which the cases give and the conclusions look for.

namespace fathom::topology {

inline constexpr const char* region_name = "lines";

inline constexpr const char* latency_sweep = "latency";
inline constexpr const char* contention_sweep = "contention";
inline constexpr const char* cluster_sweep = "clusters";

inline constexpr const char* load_instruction = "ld.global.cg";
inline constexpr const char* atomic_instruction = "atom.global.add";
inline constexpr const char* store_instruction = "st.global";

inline constexpr const char* set_names[] = {"first", "second"};  ///< of disjoint sets of lines

}  // namespace fathom::topology
