#include "gemm/ladder/lessons.h"

namespace fathom::gemm {

std::vector<Lesson> fp32_lessons() {
  using namespace fp32;
  return {column_major::naive(),
          column_major::shared_memory(),
          column_major::tile_2x2(),
          column_major::tile_64(),
          column_major::vectorised_64(),
          column_major::tile_128(),
          column_major::double_buffered(),
          column_major::staged_registers(),
          column_major::tile_8x8(),
          column_major::vector_store(),
          row_major::naive(),
          row_major::coalesced(),
          row_major::shared_memory(),
          row_major::tile_1d(),
          row_major::tile_2d(),
          row_major::linearised(),
          row_major::padded(),
          row_major::double_buffered(),
          row_major::vectorised(),
          row_major::autotuned(),
          row_major::warp_tile(),
          row_major::two_outputs(),
          row_major::two_buffers(),
          row_major::registers_buffered(),
          row_major::async_multistage(),
          row_major::wide_thread_tile()};
}

}  // namespace fathom::gemm
