#include "probes/memory_latency/conclude.h"
namespace fathom::memory_latency {
Findings conclude(std::span<const Entry>) { return {}; }
}
