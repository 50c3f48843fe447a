#include "gemm/ladder/lesson.h"

// The fp32 lessons, two trees.

namespace fathom::gemm {

namespace fp32::column_major {
Lesson naive(), shared_memory(), tile_2x2(), tile_64(), vectorised_64(), tile_128(),
    double_buffered(), staged_registers(), tile_8x8(), vector_store();

std::vector<Lesson> lessons() {
  return {naive(),    shared_memory(),   tile_2x2(),         tile_64(),  vectorised_64(),
          tile_128(), double_buffered(), staged_registers(), tile_8x8(), vector_store()};
}
}  // namespace fp32::column_major

namespace fp32::row_major {
Lesson naive(), coalesced(), shared_memory(), tile_1d(), tile_2d(), linearised(), padded(),
    double_buffered(), vectorised(), autotuned(), warp_tile(), two_outputs(), two_buffers(),
    registers_buffered(), async_multistage(), wide_thread_tile();

std::vector<Lesson> lessons() {
  return {naive(),       coalesced(),          shared_memory(),    tile_1d(),
          tile_2d(),     linearised(),         padded(),           double_buffered(),
          vectorised(),  autotuned(),          warp_tile(),        two_outputs(),
          two_buffers(), registers_buffered(), async_multistage(), wide_thread_tile()};
}
}  // namespace fp32::row_major

std::vector<Lesson> fp32_lessons() {
  std::vector<Lesson> all = fp32::column_major::lessons();
  for (const Lesson& lesson : fp32::row_major::lessons()) all.push_back(lesson);
  return all;
}

}  // namespace fathom::gemm
