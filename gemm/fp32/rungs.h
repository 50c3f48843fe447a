#pragma once

#include "gemm/rung.h"

// The fp32 rungs that go on from the lessons (gemm/ladder/fp32), one function per file, in order.

namespace fathom::gemm::fp32 {

Rung async_multistage();
Rung wide_thread_tile();
Rung planned_tiles();
Rung tma_producer();
Rung thread_producer();
Rung stream_k();
Rung sliced_depth();

}  // namespace fathom::gemm::fp32
