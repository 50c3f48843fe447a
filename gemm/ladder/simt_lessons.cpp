#include "gemm/bench/problem.h"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm {

namespace fp32::column_major {
Lesson naive(), shared_memory(), tile_2x2(), tile_64(), vectorised_64(), tile_128(),
    double_buffered(), staged_registers(), tile_8x8(), vector_store();
}
namespace fp32::row_major {
Lesson naive(), coalesced(), shared_memory(), tile_1d(), tile_2d(), linearised(), padded(),
    double_buffered(), vectorised(), autotuned(), warp_tile(), two_outputs(), two_buffers(),
    registers_buffered(), async_multistage(), wide_thread_tile();
}
namespace fp64 {
Lesson shared_memory(), register_tile();
}

std::vector<Lesson> simt_lessons(Class of) {
  std::vector<Lesson> all;
  const auto add = [&](std::initializer_list<Lesson (*)()> lessons) {
    for (const auto lesson : lessons) all.push_back(lesson());
  };
  if (of == Class::fp64) add({fp64::shared_memory, fp64::register_tile});
  if (of != Class::fp32) return all;
  {
    using namespace fp32::column_major;
    add({naive, shared_memory, tile_2x2, tile_64, vectorised_64, tile_128, double_buffered,
         staged_registers, tile_8x8, vector_store});
  }
  {
    using namespace fp32::row_major;
    add({naive, coalesced, shared_memory, tile_1d, tile_2d, linearised, padded, double_buffered,
         vectorised, autotuned, warp_tile, two_outputs, two_buffers, registers_buffered,
         async_multistage, wide_thread_tile});
  }
  return all;
}

}  // namespace fathom::gemm
