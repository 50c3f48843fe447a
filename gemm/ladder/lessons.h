#pragma once

#include <vector>

#include "gemm/ladder/lesson.h"

// The lessons, one file each, and what computes the products that no lesson is made for.

namespace fathom::gemm {

/// The fp32 lessons as two trees, parents before children.
std::vector<Lesson> fp32_lessons();

/// Any product of fp32.
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

/// Computes any product of doubles, with every index checked.
void launch_fp64_fallback(const Arguments& arguments, cudaStream_t stream);

namespace fp64 {
Lesson shared_memory();
Lesson register_tile();
Lesson tensor_cores();
Lesson wide_products();
Lesson tma();
Lesson cluster_multicast();
}  // namespace fp64

/// fp16 and bf16: every lesson multiplies either type.
namespace half {

Lesson wmma_global(Class of);
Lesson wmma_shared(Class of);
Lesson mma_sync(Class of);
Lesson multistage(Class of);
Lesson wgmma(Class of);
Lesson warp_specialised(Class of);
Lesson wide_tile(Class of);
Lesson persistent(Class of);
Lesson cluster_multicast(Class of);
Lesson overlapped_epilogue(Class of);

}  // namespace half

/// tf32, fp8 and int8, which wgmma takes along k alone.
namespace along_k {

Lesson wgmma(Class of);
Lesson promoted();  ///< of fp8

}  // namespace along_k

}  // namespace fathom::gemm
