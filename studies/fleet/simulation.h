#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fleet/fleet.h"

namespace fathom::fleet {

/// A fleet made from the recording of one GPU.
struct SimulatedFleet {
  std::size_t gpus = 10'000;
  int gpus_per_host = 8;
  double noise = 0.005;  ///< relative standard deviation of each figure of each card, independent
  std::size_t planted = 100;  ///< cards with a fault, evenly over the kinds below
  double gap = 0.03;          ///< how much worse a fault makes a metric
  std::uint64_t seed = 1;
  bool together_only = false;  ///< as a run with --alone none leaves it: one figure a metric
};

/// What a planted card has, and what its telemetry shows of it.
enum class Fault {
  sm_clock,    ///< all that follows the SM clock, and the clock
  memory,      ///< all bandwidths, and uncorrected ECC errors
  hot,         ///< all that follows the SM clock; the clock, the temperature and a throttle reason
  pcie,        ///< one metric; half the PCIe lanes
  unexplained  ///< one metric; nothing
};
inline constexpr Fault faults[] = {Fault::sm_clock, Fault::memory, Fault::hot, Fault::pcie,
                                   Fault::unexplained};
const char* to_string(Fault fault);

/// Which cards of the simulated fleet have a fault, by number.
std::map<std::size_t, Fault> planted_faults(const SimulatedFleet& options);

/// "node0001 GPU 3"
std::string card_name(const SimulatedFleet& options, std::size_t number);

/// One card of it, with one of those faults or none; the same for the same options.
GpuSummary simulated_gpu(const GpuSummary& recorded, const SimulatedFleet& options,
                         const std::map<std::size_t, Fault>& planted, std::size_t number);

/// Writes each card's summary to folder/<host>/<gpu>/gpu.json.
void write_simulated_fleet(const GpuSummary& recorded, const SimulatedFleet& options,
                           const std::filesystem::path& folder);

/// How well the planted cards were found.
struct Recall {
  std::size_t planted = 0, found = 0, false_names = 0, healthy = 0;
  std::size_t causes = 0, causes_right = 0;  ///< of those found whose telemetry shows something
  std::vector<std::string> missed;           ///< "node0001 GPU 3 (memory)"
};
Recall recall_of(const Fleet& fleet, const Outliers& outliers, const SimulatedFleet& options);

}  // namespace fathom::fleet
