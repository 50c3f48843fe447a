#pragma once

#include "probes/claims.h"

namespace fathom::launch_overhead {

// Names that the cases give their axes' values, and the conclusion finds them by.

inline constexpr const char* in_stream = "stream";
inline constexpr const char* in_graph = "graph, straight";
inline constexpr const char* fan_out_graph = "graph, fan-out";

inline constexpr const char* kernel_launch = "kernel launch";
inline constexpr const char* launch_and_synchronize = "kernel launch, then synchronize";
inline constexpr const char* launch_until_flag = "kernel launch until the host sees its flag";
inline constexpr const char* synchronize_after_flag = "synchronize once the flag is seen";
inline constexpr const char* synchronize_idle = "synchronize an idle stream";
inline constexpr const char* query_idle = "query an idle stream";
inline constexpr const char* record_event = "record an event";
inline constexpr const char* query_event = "query a completed event";
inline constexpr const char* graph_launch = "graph launch";
inline constexpr const char* graph_launch_and_synchronize = "graph launch, then synchronize";
inline constexpr const char* launch_with_argument_bytes = "kernel launch by size of arguments";

}  // namespace fathom::launch_overhead
