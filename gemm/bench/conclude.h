#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/probe.h"

namespace fathom::gemm {

/// The claims that the ladders answer.
std::vector<std::string> claim_ids();

Findings conclude(std::span<const Entry> entries);

/// One row of the two published fp32 ladders: what share of cuBLAS its author measured at 4096
/// cubed, and the lesson that puts it to the test.
struct LadderClaim {
  const char* id;
  const char* rung;  ///< below "fp32/"
  const char* step;  ///< the author's name for it
  double share;      ///< of cuBLAS, from 0 to 1
  bool tuned = false;  ///< the step is the choice that tuning made, and no other answers it
};

/// Row-major ladder, on an RTX A6000 (GR1 to GR11), then the column-major one (GC1 to GC7).
std::span<const LadderClaim> ladder_claims();

}  // namespace fathom::gemm
