#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fleet/run/measure.h"

namespace fathom {

/// Of a suite's probes, in the order in which they run, those whose hardware counters the GPU at
/// `place` of `gpus` collects where a host's GPUs share them: dealt out in turn, so every probe is
/// one GPU's and no two that follow each other are the same one's.
std::vector<std::string> share_of(const std::vector<std::string>& probes, std::size_t place,
                                  std::size_t gpus);

/// Says in each job's summary what its suite is to collect: all, `counters_of`, or nothing and why.
/// Follows from the flags, the suite and the GPU's place on its host, so that ranks need not ask
/// each other.
void decide_counters(const FleetRunArguments& arguments, std::vector<GpuJob>& jobs);

}  // namespace fathom
