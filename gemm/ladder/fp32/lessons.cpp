#include "gemm/ladder/fp32/lessons.h"

#include <utility>

namespace fathom::gemm {
namespace {

/// Most blocks of a grid's second dimension.
constexpr std::int64_t most_blocks_y = 65535;

/// The product in the lesson's view. Row-major C is column-major C^T = op(B)^T op(A)^T.
LessonProduct lesson_product(const Arguments& arguments, View view) {
  const Problem& p = arguments.problem;
  LessonProduct q{static_cast<int>(p.m), static_cast<int>(p.n),
                  p.alpha == 0 ? 0 : static_cast<int>(p.k),  // BLAS does not read A and B then
                  static_cast<float>(p.alpha), static_cast<float>(p.beta),
                  static_cast<const float*>(arguments.a), p.lda,
                  static_cast<const float*>(arguments.b), p.ldb,
                  static_cast<float*>(arguments.c), p.ldc,
                  p.transa == Transpose::yes, p.transb == Transpose::yes};
  if (view != View::column_major) {
    std::swap(q.m, q.n);
    std::swap(q.a, q.b);
    std::swap(q.lda, q.ldb);
    std::swap(q.a_transposed, q.b_transposed);
  }
  return q;
}

}  // namespace

bool is_plain(const Problem& p, View view, const LessonTile& tile) {
  if (p.transa == Transpose::yes || p.transb == Transpose::yes) return false;
  if (p.k == 0 || p.alpha == 0) return false;
  if (tile.vectors && (p.lda % 4 != 0 || p.ldb % 4 != 0 || p.ldc % 4 != 0)) return false;
  const bool by_column = view == View::column_major;
  const std::int64_t rows = by_column ? p.m : p.n, columns = by_column ? p.n : p.m;
  const std::int64_t blocks_y =
      view == View::row_major_x_along_rows ? ceil_div(rows, tile.m) : ceil_div(columns, tile.n);
  if (blocks_y > most_blocks_y) return false;
  return tile.any_size || (rows % tile.m == 0 && columns % tile.n == 0 && p.k % tile.k == 0);
}

void launch_lesson(const Arguments& arguments, cudaStream_t stream, View view, LessonKernel kernel,
                   const LessonTile& tile) {
  if (arguments.problem.m == 0 || arguments.problem.n == 0) return;
  if (!is_plain(arguments.problem, view, tile)) return launch_fallback(arguments, stream);
  const LessonProduct p = lesson_product(arguments, view);
  const auto down = static_cast<unsigned>(ceil_div(p.m, tile.m));
  const auto across = static_cast<unsigned>(ceil_div(p.n, tile.n));
  const dim3 grid = view == View::row_major_x_along_rows ? dim3(across, down) : dim3(down, across);
  launch_blocks(kernel, grid, tile.threads, p, stream);
}

void launch_fallback(const Arguments& arguments, cudaStream_t stream) {
  if (arguments.problem.m == 0 || arguments.problem.n == 0) return;
  const LessonProduct p = lesson_product(arguments, View::row_major);
  const std::int64_t tiles = ceil_div(p.m, fallback_tile) * ceil_div(p.n, fallback_tile);
  launch_blocks(&fallback_product, dim3(static_cast<unsigned>(tiles)), fallback_threads, p, stream);
}

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
          row_major::registers_buffered()};
}

}  // namespace fathom::gemm
