#pragma once

#include <string_view>

#include "results/findings.h"

// What each probe concludes from its entries. No CUDA: a recorded document is concluded again
// without the programs that measured it.

namespace fathom {

/// All probes, and the ladder (gemm/bench/), each in the namespace of its name.
#define FATHOM_EACH_PROBE(of)                                                   \
  of(atomics) of(bank_conflicts) of(copy_bandwidth) of(energy) of(instructions) \
  of(launch_overhead) of(links) of(memory_bandwidth) of(memory_latency)         \
  of(model_validation) of(occupancy) of(tail_effect) of(topology) of(warp_reduce) of(gemm)
#define FATHOM_CONCLUDE(probe) \
  namespace probe { Findings conclude(std::span<const Entry> entries); }
FATHOM_EACH_PROBE(FATHOM_CONCLUDE)
#undef FATHOM_CONCLUDE

/// By the probe's name; empty for one that there is not.
Conclude conclusion_of(std::string_view probe);

}  // namespace fathom
