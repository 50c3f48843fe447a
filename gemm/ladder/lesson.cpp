#include "gemm/ladder/lesson.h"

#include <algorithm>
#include <string>
#include <utility>

namespace fathom::gemm {
namespace {

/// Most blocks of a grid's second dimension.
constexpr std::int64_t most_blocks_y = 65535;

/// The product in the lesson's view. Row-major C is column-major C^T = op(B)^T op(A)^T.
template <class T>
LessonProductOf<T> lesson_product(const Arguments& arguments, View view) {
  const Problem& p = arguments.problem;
  LessonProductOf<T> q{static_cast<int>(p.m),
                       static_cast<int>(p.n),
                       p.alpha == 0 ? 0 : static_cast<int>(p.k),  // BLAS does not read A, B then
                       static_cast<T>(p.alpha),
                       static_cast<T>(p.beta),
                       static_cast<const T*>(arguments.a),
                       p.lda,
                       static_cast<const T*>(arguments.b),
                       p.ldb,
                       static_cast<T*>(arguments.c),
                       p.ldc};
  if (view != View::column_major) {
    std::swap(q.m, q.n);
    std::swap(q.a, q.b);
    std::swap(q.lda, q.ldb);
  }
  return q;
}

}  // namespace

std::string Rung::id() const { return std::string(traits(of).name) + "/" + name; }

bool Rung::answers(const char* claim) const {
  return std::ranges::any_of(claims, [&](const std::string& own) { return own == claim; });
}

bool runs_on(const Rung& rung, int major, int minor) {
  const int capability = 10 * major + minor;
  return rung.exact_capability ? capability == rung.capability : capability >= rung.capability;
}

std::string Lesson::parent_id() const {
  return *parent == 0 ? "" : std::string(traits(of).name) + "/" + parent;
}

Lesson lesson_of(Class of, int capability, const LessonText& text) {
  Lesson lesson;
  lesson.of = of;
  lesson.name = text.name;
  lesson.parent = text.parent;
  lesson.idea = text.idea;
  lesson.gain = text.gain;
  lesson.claims = text.claims;
  lesson.capability = std::max(capability, text.capability);
  return lesson;
}

bool is_plain(const Problem& p, View view, const LessonTile& tile) {
  if (p.transa == Transpose::yes || p.transb == Transpose::yes) return false;
  if (p.k == 0 || p.alpha == 0) return false;
  const std::int64_t vector = p.of == Class::fp64 ? 2 : 4;
  if (tile.vectors && (p.lda % vector != 0 || p.ldb % vector != 0 || p.ldc % vector != 0))
    return false;
  const bool by_column = view == View::column_major;
  const std::int64_t rows = by_column ? p.m : p.n, columns = by_column ? p.n : p.m;
  const std::int64_t blocks_y =
      view == View::row_major_x_along_rows ? ceil_div(rows, tile.m) : ceil_div(columns, tile.n);
  if (blocks_y > most_blocks_y) return false;
  return tile.any_size || (rows % tile.m == 0 && columns % tile.n == 0 && p.k % tile.k == 0);
}

bool is_plain(const Problem& p, Transpose transa, int tile_m, int tile_n, int tile_k) {
  const ClassTraits& types = traits(p.of);
  const int inputs = 16 / element_bytes(types.input), outputs = 16 / element_bytes(types.output);
  // The rows of the row-major product are BLAS's columns.
  return p.transa == transa && p.transb == Transpose::no && p.alpha != 0 && p.m > 0 && p.n > 0 &&
         p.k > 0 && p.n % tile_m == 0 && p.m % tile_n == 0 && p.k % tile_k == 0 &&
         p.lda % inputs == 0 && p.ldb % inputs == 0 && p.ldc % outputs == 0;
}

template <class T>
void launch_lesson(const Arguments& arguments, cudaStream_t stream, View view,
                   LessonKernel<T> kernel, const LessonTile& tile) {
  if (arguments.problem.m == 0 || arguments.problem.n == 0) return;
  if (!is_plain(arguments.problem, view, tile)) return launch_fallback(arguments, stream);
  const LessonProductOf<T> p = lesson_product<T>(arguments, view);
  const auto down = static_cast<unsigned>(ceil_div(p.m, tile.m));
  const auto across = static_cast<unsigned>(ceil_div(p.n, tile.n));
  const dim3 grid = view == View::row_major_x_along_rows ? dim3(across, down) : dim3(down, across);
  launch_blocks(kernel, grid, tile.threads, p, stream);
}

template void launch_lesson(const Arguments&, cudaStream_t, View, LessonKernel<float>,
                            const LessonTile&);
template void launch_lesson(const Arguments&, cudaStream_t, View, LessonKernel<double>,
                            const LessonTile&);

}  // namespace fathom::gemm
