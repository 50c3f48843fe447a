#include "probes/claims.h"

#include <algorithm>

namespace fathom {

Conclude conclusion_of(std::string_view probe) {
  using Row = std::pair<std::string_view, Findings (*)(std::span<const Entry>)>;
  static constexpr Row rows[] = {{"atomics", atomics::conclude},
                                 {"bank_conflicts", bank_conflicts::conclude},
                                 {"copy_bandwidth", copy_bandwidth::conclude},
                                 {"energy", energy::conclude},
                                 {"instructions", instructions::conclude},
                                 {"launch_overhead", launch_overhead::conclude},
                                 {"links", links::conclude},
                                 {"memory_bandwidth", memory_bandwidth::conclude},
                                 {"memory_latency", memory_latency::conclude},
                                 {"model_validation", model_validation::conclude},
                                 {"occupancy", occupancy_probe::conclude},
                                 {"tail_effect", tail_effect::conclude},
                                 {"topology", topology::conclude},
                                 {"warp_reduce", warp_reduce::conclude}};
  const auto found = std::ranges::find(rows, probe, &Row::first);
  return found == std::end(rows) ? Conclude() : Conclude(found->second);
}

}  // namespace fathom
