#pragma once

#include <vector>

#include "gemm/ladder/lesson.h"

// The fp32 lessons, one file each, as two trees: row-major and column-major.

namespace fathom::gemm {

/// All of them, parents before children.
std::vector<Lesson> fp32_lessons();

/// What computes the products that no lesson is made for.
__global__ void fallback_product(LessonProduct p);
inline constexpr int fallback_tile = 64, fallback_threads = 256;

namespace fp32::row_major {
Lesson naive();
Lesson coalesced();
Lesson shared_memory();
Lesson tile_1d();
Lesson tile_2d();
Lesson linearised();
Lesson padded();
Lesson double_buffered();
Lesson vectorised();
Lesson autotuned();
Lesson warp_tile();
Lesson two_outputs();
Lesson two_buffers();
Lesson registers_buffered();
Lesson async_multistage();
Lesson wide_thread_tile();
}  // namespace fp32::row_major

namespace fp32::column_major {
Lesson naive();
Lesson shared_memory();
Lesson tile_2x2();
Lesson tile_64();
Lesson vectorised_64();
Lesson tile_128();
Lesson double_buffered();
Lesson staged_registers();
Lesson tile_8x8();
Lesson vector_store();
}  // namespace fp32::column_major

}  // namespace fathom::gemm
