#include "gemm/blocks/streamed_rows.cuh"
#include "models/shared_memory.h"
#include "tests/testing.h"

using namespace fathom::gemm;
using namespace fathom::gemm::streamed;

namespace {

int wavefronts(int bytes, auto address) {
  fathom::models::WarpAccess access;
  access.bytes_per_lane = bytes;
  for (int lane = 0; lane < 32; ++lane) access.address[lane] = address(lane);
  return fathom::models::wavefronts(access);
}

}  // namespace

TEST_CASE("clusters of a streamed product have equal shares of its rows", "[gemm]") {
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

TEST_CASE(
    "a stage of a streamed product is read in twice the wavefronts of its bytes, its sums in as "
    "many",
    "[gemm]") {
  for (int chunk = 0; chunk < 2; ++chunk) {
    // 512 bytes, of which pairs of rows have the same banks: what copies on 128 bytes cost.
    CHECK(wavefronts(16, [&](int lane) { return lane / 4 * run_bytes + chunk_of(lane, chunk); }) ==
          8);
  }
  // A lane's four sums in fp32 are 16 bytes of a row of 16.
  CHECK(wavefronts(16, [](int lane) { return lane / 4 * columns * 4 + lane % 4 * 16; }) == 4);
}
