#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fleet/gpu_summary.h"
#include "fleet/host_links.h"

namespace fathom::fleet {

/// A host or rank without figures, or a file that could not be read.
struct Problem {
  std::string what;    ///< "rank 3", "host node07", "node07-0/gpu.json"
  std::string reason;  ///< one sentence or clause
  int exit_code = 0;
};

/// Files may hold any number as an exit code: one that no measurement ends with becomes
/// `incomplete`.
int known_code(int exit_code);

/// What the fleet should have; what is missing of it becomes a problem.
struct Expected {
  std::optional<std::size_t> gpus;
  std::vector<std::string> hosts;
  /// The run that counts, whatever others have left beside it; empty: all of them.
  std::string run;
};

struct Fleet {
  std::vector<MetricName> metrics;
  std::vector<GpuSummary> gpus;  ///< without names
  std::vector<HostLinks> links;
  std::vector<Problem> problems;

  /// Takes in a GPU as its file has it.
  void add(GpuSummary&& gpu);
  /// Once all is there: sorts the GPUs by host and number, keeps the later of two summaries of one
  /// GPU, and tells what is missing or incomplete.
  void finish(const Expected& expected = {});
  std::size_t hosts() const;
  bool replay() const;  ///< any part of it

 private:
  std::unordered_map<std::string, std::size_t> places_;  ///< of metrics, by name
};

/// Takes out of a fleet the figures that no measurement gives: negative ones, and 0 where it is no
/// count or share. They are missing, and so is what a card's peers have and it has not: cards of
/// its model, suite and build, that were measured in the same parts and collect the same counters.
/// A card that misses a figure is incomplete. Links are treated the same, without peers.
void find_missing_figures(Fleet& fleet);

/// Hands each number below `count` to `work`, on all processors.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

/// Reads what runs left in a folder and those below: gpu.json and links.json, and result.json where
/// neither sums it up; what else ends in .json is looked into. For one run only (Expected) its
/// own gpu.json and links.json count, and what others left there half-written is not its problem. A
/// file that is half-written or none of ours becomes a problem, and so does what is missing. Throws
/// Error(bad_input) if there is no such folder, or nothing in it.
Fleet read_fleet(const std::filesystem::path& folder, const Expected& expected);

}  // namespace fathom::fleet
