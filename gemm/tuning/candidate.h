#pragma once

#include <cuda_runtime.h>

#include <span>
#include <string>
#include <vector>

#include "gemm/verification.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// What is timed: a trial or an opponent, and what was found of it, a sample a round or a turn.
struct Candidate {
  std::string name;
  bool opponent = false;
  Workload workload;
  Accuracy accuracy;  ///< of a trial
  std::string wrong;
  std::vector<double> seconds;  ///< of a launch
  std::vector<double> hertz;    ///< of the SMs, a burst or a turn
  std::vector<double> joules;   ///< of a launch under lasting load, where the GPU counts energy
};

/// A burst is three launches, ten where one of them takes less than 0.2 ms, after a pause of 10 ms
/// that lets the card cool and two launches that are not measured. Where the shortest takes less
/// than 0.1 ms, with which the host's calls may not keep up, all are graphs of fifty launches, the
/// unmeasured too. Every round has one of each candidate, there and back in turn, so that nobody
/// always follows the same.
void time_bursts(std::span<Candidate> candidates, int rounds, cudaStream_t stream);

/// Two turns each without a pause (harness/sustained.h), of a second if they are five at most, else
/// of half a second.
void time_sustained(std::span<Candidate> candidates, cudaStream_t stream);

}  // namespace fathom::gemm
