#pragma once

#include <memory>

#include "gemm/tuning.h"

namespace fathom::test {

/// Cases that take every rung's own choice.
inline std::shared_ptr<gemm::Tuning> no_tuning() {
  return std::make_shared<gemm::Tuning>(gemm::TuningRequest{.unused = true},
                                        gemm::TuningFingerprint{"a GPU", "580", 132});
}

}  // namespace fathom::test
