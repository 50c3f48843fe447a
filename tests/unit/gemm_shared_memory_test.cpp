// What moves through shared memory as no lesson has it, where to and at what cost: of the copy that
// feeds the fp32 kernel with operands along k, and of a streamed product.

#include "models/shared_memory.h"

#include "gemm/blocks/box_transposition.cuh"
#include "gemm/blocks/streamed_rows.cuh"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;
using models::Access;

namespace {

/// Wavefronts of a warp's access of 16 bytes a lane at these offsets.
int wavefronts(Access op, auto offset) {
  models::WarpAccess access;
  access.op = op;
  access.bytes_per_lane = 16;
  for (int lane = 0; lane < models::warp_size; ++lane) access.address[lane] = offset(lane);
  return models::wavefronts(access);
}

}  // namespace

TEST_CASE("a box is transposed without a bank conflict", "[gemm]") {
  for (const int rows : {128, 256}) {
    const auto store_at = [&](int row, int pitch) {
      return wavefronts(Access::store,
                        [&](int lane) { return transposed_offset(lane, row, pitch); });
    };
    for (int row = 0; row < rows; row += rows_transposed_at_once) {
      CAPTURE(rows, row);
      CHECK(wavefronts(Access::load, [&](int lane) { return box_row_offset(lane, row); }) == 4);
      CHECK(store_at(row, rows + transposed_line_pad) == 4);
    }
    // Without the padding each store would take eight times as long.
    CHECK(store_at(0, rows) == 32);
  }
}

TEST_CASE(
    "a stage of a streamed product is read in twice the wavefronts of its bytes, its sums in as "
    "many",
    "[gemm]") {
  using namespace streamed;
  for (int chunk = 0; chunk < 2; ++chunk) {
    // 512 bytes, of which pairs of rows have the same banks: what copies on 128 bytes cost.
    CHECK(wavefronts(Access::load,
                     [&](int lane) { return lane / 4 * run_bytes + chunk_of(lane, chunk); }) == 8);
  }
  // A lane's four sums in fp32 are 16 bytes of a row of 16.
  CHECK(wavefronts(Access::load, [](int lane) { return lane / 4 * columns * 4 + lane % 4 * 16; }) ==
        4);
}

TEST_CASE("clusters of a streamed product have equal shares of its rows", "[gemm]") {
  using streamed::first_row;
  for (const int rows : {1, 15, 132, 8192, 9001}) {
    for (const int clusters : {1, 2, 33, 66}) {
      if (clusters > rows) continue;
      CAPTURE(rows, clusters);
      REQUIRE(first_row(rows, 0, clusters) == 0);
      REQUIRE(first_row(rows, clusters, clusters) == rows);
      for (int c = 0; c < clusters; ++c) {
        const int own = first_row(rows, c + 1, clusters) - first_row(rows, c, clusters);
        REQUIRE((own == rows / clusters || own == rows / clusters + 1));
      }
    }
  }
}
