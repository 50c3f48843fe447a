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

TEST_CASE("every element of a box is transposed to its place", "[gemm]") {
  constexpr int rows = 128, pitch = rows + transposed_line_pad, nobody = -1;
  std::vector<int> lines(transposed_box_depth * pitch, nobody);
  for (int row = 0; row < rows; row += rows_transposed_at_once) {
    for (int lane = 0; lane < models::warp_size; ++lane) {
      for (int matrix = 0; matrix < 4; ++matrix) {
        // Lanes 8j to 8j + 7 have the addresses of matrix j's eight rows; lane l gets four bytes of
        // row l / 4, the l % 4th (PTX ISA, ldmatrix).
        const int offset = box_row_offset(8 * matrix + lane / 4, row) + lane % 4 * 4;
        lines[transposed_offset(lane, row, pitch) / 4 + matrix] = offset / 4;
      }
    }
  }
  int wrong = 0;
  for (int k = 0; k < transposed_box_depth; ++k) {
    for (int row = 0; row < pitch; ++row)
      wrong += lines[k * pitch + row] != (row < rows ? row * transposed_box_depth + k : nobody);
  }
  CHECK(wrong == 0);
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

TEST_CASE("slabs and passes of a streamed product have every byte of a row once", "[gemm]") {
  using namespace streamed;
  for (const int row_bytes : {128, 2048, 4096, 16384, 16512, 65536, 70016}) {
    CAPTURE(row_bytes);
    std::vector<int> times(row_bytes);
    for (int pass = 0; pass < passes_over(row_bytes); ++pass) {
      for (int rank = 0; rank < cluster; ++rank) {
        const Slab slab = slab_of(row_bytes, pass, rank);
        REQUIRE((0 <= slab.stages && slab.stages <= slab_stages));
        const int end = std::min(slab.begin + slab.stages * run_bytes, row_bytes);
        for (int byte = slab.begin; byte < end; ++byte) ++times[byte];
      }
    }
    CHECK(std::ranges::count(times, 1) == row_bytes);
  }
}

// What the tensor cores make of a lane's chunks, by the fragments of mma.m16n8k16 (PTX ISA): A's
// register r has row l / 4 + 8 (r % 2) and places 2 (l % 4) + 8 (r / 2) and the next along k, B's
// register r column l / 4 and places 2 (l % 4) + 8 r and the next; of D element e is row l / 4 + 8
// (e / 2), column 2 (l % 4) + e % 2.
TEST_CASE("chunks as they lie in memory make a step's products", "[gemm]") {
  using namespace streamed;
  constexpr int depth = step_bytes / 2;  // of 16 bits
  const auto a = [](int row, int k) { return (row * 31 + k * 7) % 23 - 11; };
  const auto b = [](int k, int column) { return (k * 13 + column * 5) % 19 - 9; };
  std::array<std::array<int, columns>, rows_at_once> c{};
  for (int chunk = 0; chunk < 2; ++chunk) {
    for (int i = 0; i < 4; i += 2) {
      const auto k_of = [&](int lane, int reg, int element) {
        return chunk_of(lane, chunk) / 2 + (i + reg) * 2 + element;
      };
      for (int half = 0; half < 2; ++half) {
        for (int row = 0; row < 16; ++row) {
          for (int n = 0; n < 8; ++n) {
            const int of_sum = row % 8 * 4 + n / 2;  // the lane that has it
            int sum = 0;
            for (int place = 0; place < 16; ++place) {
              const int of_a = row % 8 * 4 + place % 8 / 2, of_b = n * 4 + place % 8 / 2;
              sum += a(of_a / 4 + row / 8 * 8, k_of(of_a, place / 8, place % 2)) *
                     b(k_of(of_b, place / 8, place % 2), column_of(of_b, half));
            }
            // As sums are exchanged: element 2 (row / 8) + n % 2 of half h is column 4 (l % 4) + 2
            // (n % 2) + h.
            c[row][of_sum % 4 * 4 + n % 2 * 2 + half] += sum;
          }
        }
      }
    }
  }
  for (int row = 0; row < rows_at_once; ++row) {
    for (int column = 0; column < columns; ++column) {
      int expected = 0;
      for (int k = 0; k < depth; ++k) expected += a(row, k) * b(k, column);
      CHECK(c[row][column] == expected);
    }
  }
}
