#include "gemm/conclude.h"

namespace fathom::gemm {

std::vector<std::string> claim_ids() { return {}; }

Findings conclude(std::span<const Entry>) { return {}; }

}  // namespace fathom::gemm
