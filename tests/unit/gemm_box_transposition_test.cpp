#include "gemm/blocks/box_transposition.cuh"

#include "models/shared_memory.h"
#include "models/warp_access.h"
#include "tests/testing.h"

// The copy in shared memory that feeds the fp32 kernel with operands along k has no bank conflict.
// That it moves all to its place, the kernel's products show (tests/gpu).

using namespace fathom;
using namespace fathom::gemm;

namespace {

constexpr int lanes = models::warp_size;

/// The warp's access of 16 bytes a lane at these offsets.
template <class Offset>
models::SharedCost cost_of(models::Access op, Offset offset) {
  models::WarpAccess access;
  access.op = op;
  access.bytes_per_lane = 16;
  for (int lane = 0; lane < lanes; ++lane) access.address[lane] = offset(lane);
  return models::shared_cost(access);
}

}  // namespace

TEST_CASE("a box is transposed without a bank conflict", "[gemm]") {
  for (const int rows : {128, 256}) {
    const int pitch = rows + transposed_line_pad;
    for (int row = 0; row < rows; row += rows_transposed_at_once) {
      CAPTURE(rows, row);
      const auto load =
          cost_of(models::Access::load, [&](int lane) { return box_row_offset(lane, row); });
      const auto store = cost_of(models::Access::store,
                                 [&](int lane) { return transposed_offset(lane, row, pitch); });
      CHECK((load.conflicts == 0 && load.wavefronts == 4));
      CHECK((store.conflicts == 0 && store.wavefronts == 4));
    }
    // Without the padding each store would take eight times as long.
    CHECK(cost_of(models::Access::store, [&](int lane) {
            return transposed_offset(lane, 0, rows);
          }).wavefronts == 32);
  }
}
