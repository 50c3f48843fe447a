#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/warp_access.h"

namespace fathom::bank_conflicts {

/// One pattern of the sweep; `access.address` are offsets into the kernels' region.
struct Pattern {
  std::string family;  ///< "stride", "broadcast", "pairs", "column", ...
  std::string name;    ///< unique for its width and operation: "stride:2", "column:padded"
  models::WarpAccess access;
  int stride_words = 0;  ///< of the family "stride", else 0
  bool quick = false;    ///< in the quick suite too
};

/// `bytes`: 4, 8 or 16 a lane.
std::vector<Pattern> patterns(models::Access op, int bytes);

/// Wavefronts of one access as claims S2 to S5 have it, for stores as for loads: what is put to the
/// test. The model (models/shared_memory.h) says the same of loads, and other than that of stores.
int claimed_wavefronts(models::WarpAccess access);

/// Holds what one launch wrote (Run::out) against what it must have written; nothing, or the first
/// difference in words. `iterations` is a multiple of `windows`, and the first `warps` warps of
/// each block made the accesses.
std::optional<std::string> check_output(const models::WarpAccess& access, int iterations,
                                        std::span<const std::uint32_t> out, int warps);

}  // namespace fathom::bank_conflicts
