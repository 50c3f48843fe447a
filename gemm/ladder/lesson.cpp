#include <algorithm>
#include <string>

#include "gemm/blocks/operands.cuh"
#include "gemm/ladder/lessons.h"
#include "gemm/ladder/simt_lesson.h"

namespace fathom::gemm {
namespace {

/// Most blocks of a grid's second dimension.
constexpr std::int64_t most_blocks_y = 65535;

/// The product in the lesson's view.
template <class T>
LessonProductOf<T> lesson_product(const Arguments& arguments, View view) {
  const bool by_column = view == View::column_major;
  const Product<T> p = by_column ? column_major<T>(arguments) : row_major<T>(arguments);
  const auto ld = [&](const auto& x) { return by_column ? x.column_stride : x.row_stride; };
  return {p.m, p.n, p.k, p.alpha, p.beta, p.a.data, ld(p.a), p.b.data, ld(p.b), p.c.data, ld(p.c)};
}

/// With ldmatrix of warps that multiply 64 x 64 x 16 at a time, `share` of what they need at least.
std::vector<CounterModel> with_fragments(const Problem& p, int capability, double share,
                                         const char* model) {
  std::vector<CounterModel> all = known_products(p, capability);
  all.push_back(
      {"shared_matrix_load_instructions", p.flops() / (2.0 * 64 * 64 * 16) * 8 * share, model});
  return all;
}

/// Whether wgmma takes both operands of the type along k alone, as in BLAS's TN: all but 16 bits.
bool is_along_k(const Problem& p) {
  return p.of != Class::fp64 && element_bytes(traits(p.of).input) != 2;
}

}  // namespace

std::vector<CounterModel> known_products(const Problem& p, int capability) {
  return {{"tensor_instructions", p.flops() / (2 * 16 * 8 * (capability >= 80 ? 16 : 8)),
           "products of 16 x 8 x 16 (Turing: x 8)"}};
}
std::vector<CounterModel> known_fragments(const Problem& p, int capability) {
  return with_fragments(p, capability, 1,
                        "eight for a warp's 64 x 64 x 16, each element loaded once");
}
std::vector<CounterModel> known_fragments_ahead(const Problem& p, int capability) {
  return with_fragments(p, capability, 1 + 16 / static_cast<double>(p.k),
                        "eight for a warp's 64 x 64 x 16, and once more at a tile's end");
}

std::string Rung::id() const { return std::string(traits(of).name) + "/" + name; }

bool Rung::answers(const char* claim) const {
  return std::ranges::any_of(claims, [&](const std::string& own) { return own == claim; });
}

bool runs_on(const Rung& rung, int major, int minor) {
  const int capability = 10 * major + minor;
  return rung.exact_capability ? capability == rung.capability : capability >= rung.capability;
}

Rung rung_of(Class of, const Lesson& lesson) {
  Rung rung{lesson.text};
  rung.of = of;
  rung.exact_capability = lesson.exact_capability;
  rung.promoted = lesson.promoted;
  rung.plan = [lesson](const Problem& p, int) -> RungPlan {
    const LessonTile& tile = lesson.tile;
    RungPlan plan{lesson.launch,
                  0,
                  {lesson.kernel, tile.threads, tile.shared_bytes, tile.m, tile.n, tile.k, 1,
                   tile.cluster_m},
                  lesson.takes_own_path(p)};
    if (lesson.variants != nullptr) lesson.variants(p, plan.variants);
    return plan;
  };
  return rung;
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

bool is_plain(const Problem& p, const LessonTile& tile) {
  const ClassTraits& types = traits(p.of);
  const int inputs = 16 / element_bytes(types.input), outputs = 16 / element_bytes(types.output);
  const Transpose transa = is_along_k(p) ? Transpose::yes : Transpose::no;
  // The rows of the row-major product are BLAS's columns.
  return p.transa == transa && p.transb == Transpose::no && p.alpha != 0 && p.m > 0 && p.n > 0 &&
         p.k > 0 && p.n % (tile.m * tile.cluster_m) == 0 && p.m % tile.n == 0 &&
         p.k % tile.k == 0 && p.lda % inputs == 0 && p.ldb % inputs == 0 && p.ldc % outputs == 0;
}

bool is_plain(const Arguments& arguments, const LessonTile& tile) {
  return is_plain(arguments.problem, tile);
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

void add_variant(std::vector<RungPlan>& variants, const Problem& problem, View view,
                 LessonKernel<float> kernel, const LessonTile& tile) {
  if (!is_plain(problem, view, tile)) return;
  RungPlan& variant = variants.emplace_back();
  variant.name = std::to_string(tile.m) + "x" + std::to_string(tile.n) + "x" +
                 std::to_string(tile.k) + " by " + std::to_string(tile.threads) + " threads";
  variant.kernel = {reinterpret_cast<const void*>(kernel), tile.threads, 0, tile.m, tile.n, tile.k};
  variant.launch = [=](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
    launch_lesson(arguments, stream, view, kernel, tile);
  };
}

}  // namespace fathom::gemm
