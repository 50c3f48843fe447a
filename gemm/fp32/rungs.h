#pragma once

#include "gemm/rung.h"

// The fp32 ladder, one function per rung and file, in order.

namespace fathom::gemm::fp32 {

Rung naive();
Rung coalesced();
Rung shuffle_broadcast();
Rung shared_memory();
Rung shared_columns();
Rung two_outputs();
Rung tile_1d();
Rung tile_2x2();
Rung tile_64();
Rung tile_2d();
Rung linearised();
Rung padded();
Rung swizzled();
Rung double_buffered();
Rung vectorised();
Rung vectorised_64();
Rung tile_16x4();
Rung registers_buffered();
Rung warp_tile();
Rung async_multistage();
Rung wide_thread_tile();
Rung planned_tiles();
Rung tma_producer();
Rung thread_producer();
Rung stream_k();
Rung sliced_depth();

// Ablations of rungs (gemm/ablations.h), each in its rung's file.
Rung tile_8x8();              ///< of tile_16x4
Rung registers_unbuffered();  ///< of registers_buffered

}  // namespace fathom::gemm::fp32
