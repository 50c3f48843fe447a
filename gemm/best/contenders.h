#pragma once

#include "gemm/bench/rung.h"

// What is held against the vendor's library, by type, beside the lessons (gemm/ladder).

namespace fathom::gemm {

namespace fp32 {
Rung planned_tiles();  ///< of every GPU since sm_80
Rung sliced_depth();   ///< of Hopper
}  // namespace fp32
namespace fp32_3xtf32 {
Rung planned_tiles();
}
namespace fp64 {
Rung late_reads();
}
/// fp16 and bf16; `of` is one of them.
namespace half {
Rung deferred_stores(Class of);
}
namespace tf32 {
Rung large_clusters();
}  // namespace tf32
namespace fp8 {
Rung promoted();
Rung fast_accumulation();
}  // namespace fp8
namespace int8 {
Rung wgmma();
}

}  // namespace fathom::gemm
