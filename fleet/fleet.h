#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fleet/gpu_summary.h"
#include "fleet/host_links.h"

namespace fathom::fleet {

/// A figure that is not there though it should be, and why.
struct MissingFigure {
  std::string figure;  ///< the metric's name
  std::string when;    ///< "alone", "together"
  std::string reason;  ///< a clause
};

/// One GPU of a fleet; its summary's names are in the fleet's table.
struct FleetGpu {
  GpuSummary summary;                  ///< without names and figures
  std::filesystem::path where;         ///< its gpu.json or result.json
  std::vector<MetricFigures> figures;  ///< by the fleet's metrics; may be shorter than those
  std::vector<MissingFigure> missing;
  MetricFigures at(std::size_t metric) const {
    return metric < figures.size() ? figures[metric] : MetricFigures{};
  }
};

/// A host or rank without figures, or a file that could not be read.
struct Problem {
  std::string what;    ///< "rank 3", "host node07", "node07-0/gpu.json"
  std::string reason;  ///< one sentence or clause
  int exit_code = 0;
};

/// Files may hold any number as an exit code: one that no measurement ends with becomes
/// `incomplete`.
int known_code(int exit_code);

struct Fleet {
  std::vector<MetricName> metrics;
  std::vector<FleetGpu> gpus;  ///< sorted by host, then number
  std::vector<HostLinks> links;
  std::vector<Problem> problems;
  std::size_t hosts() const;
  bool replay() const;  ///< any part of it
};

/// What the fleet should have; what is missing of it becomes a problem.
struct Expected {
  std::optional<std::size_t> gpus;
  std::vector<std::string> hosts;
  /// The run that counts, whatever others have left beside it; empty: all of them.
  std::string run;
};

/// Takes out of a fleet the figures that no measurement gives: negative ones, and 0 where it is no
/// count or share. They are missing, and so is what a card's peers have and it has not: cards of
/// its model, suite and build, that were measured in the same parts and collect the same counters.
/// A card that misses a figure is incomplete. Links are treated the same, without peers.
void find_missing_figures(Fleet& fleet);

/// Makes a fleet of summaries with their places.
class FleetBuilder {
 public:
  /// The later of two summaries of one GPU counts. Thread-safe.
  void add(GpuSummary&& summary, std::filesystem::path where);
  void add(HostLinks&& links);
  void add(Problem&& problem);
  Fleet finish(const Expected& expected);

 private:
  std::mutex mutex_;
  Fleet fleet_;
  std::unordered_map<std::string, std::size_t> places_;  ///< of metrics, by name
};

/// Hands each number below `count` to `work`, on all processors.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

/// Reads what runs left in a folder and those below: gpu.json and links.json, and result.json where
/// neither sums it up; what else ends in .json is looked into. For one run only (Expected) its
/// own gpu.json and links.json count, and what others left there half-written is not its problem. A
/// file that is half-written or none of ours becomes a problem, and so does what is missing. Throws
/// Error(bad_input) if there is no such folder, or nothing in it.
Fleet read_fleet(const std::filesystem::path& folder, const Expected& expected);

}  // namespace fathom::fleet
