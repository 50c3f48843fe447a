#pragma once

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

/// Every pattern for one operation and width (4, 8 or 16 bytes a lane).
std::vector<Pattern> patterns(models::Access op, int bytes);

/// Wavefronts of one access as claims S2 to S5 have it, for stores as for loads: what is put to the
/// test. The model (models/shared_memory.h) says the same of loads, and other than that of stores.
int claimed_wavefronts(models::WarpAccess access);

}  // namespace fathom::bank_conflicts
