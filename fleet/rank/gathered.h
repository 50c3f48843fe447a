#pragma once

#include <set>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/run/measure.h"
#include "fleet/rank/mpi_ranks.h"

namespace fathom {

/// What came of the other ranks, at rank 0, and why of some nothing did.
class Gathered {
 public:
  Gathered(int ranks, const FleetFolder& folder) : gathering_(ranks), folder_(folder) {}

  /// Until all have answered or are known to be dead, for `limit_s` seconds at most.
  void wait(double limit_s, SignalInbox& inbox);
  const std::set<int>& gone() const { return gone_; }
  std::vector<fleet::Problem> problems;

 private:
  void unpack(int rank, const std::string& text);
  void give_up(int rank, const std::string& why);
  void look_for_notes();

  Gathering gathering_;
  const FleetFolder& folder_;
  std::set<int> gone_;
};

}  // namespace fathom
