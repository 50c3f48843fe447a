#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "gemm/bench/rung.h"
#include "gemm/blocks/operands.cuh"
#include "gemm/ladder/simt_lesson.h"
#include "results/document.h"

namespace fathom::gemm {

std::vector<CounterModel> known_products(const Problem& p, int capability) {
  return {{"tensor_instructions", p.flops() / (2 * 16 * 8 * (capability >= 80 ? 16 : 8)),
           "products of 16 x 8 x 16 (Turing: x 8)"}};
}
std::vector<CounterModel> known_fragments(const Problem& p, int capability) {
  std::vector<CounterModel> all = known_products(p, capability);
  all.push_back({"shared_matrix_load_instructions", p.flops() / (2.0 * 64 * 64 * 16) * 8,
                 "eight for a warp's 64 x 64 x 16, each element loaded once"});
  return all;
}
std::vector<CounterModel> known_fragments_ahead(const Problem& p, int capability) {
  std::vector<CounterModel> all = known_fragments(p, capability);
  all.back().value *= 1 + 16 / static_cast<double>(p.k);
  all.back().model = "eight for a warp's 64 x 64 x 16, and once more at a tile's end";
  return all;
}

/// A lesson's traffic on whole tiles and lines that start on sectors.
static std::vector<CounterModel> known_traffic(const Rung& rung, const Problem& p,
                                               const RungKernel& kernel, int capability) {
  const LessonTraffic& t = rung.traffic;
  const bool asynchronous = rung.capability >= 80;
  const int side = std::max(kernel.tile_m, kernel.tile_n),
            sector = 32 / element_bytes(traits(p.of).input);
  if (p.beta != 0 || p.m % side != 0 || p.n % side != 0 || p.lda % sector != 0 ||
      p.ldb % sector != 0 || p.ldc % sector != 0 || (asynchronous && capability < 90))
    return {};
  const double tiles = double(p.m / kernel.tile_m) * double(p.n) / kernel.tile_n;
  const auto count = [&](int of_64_k, int of_tile = 0) {
    return tiles * (of_64_k * double(p.k) / 64 + of_tile);
  };
  constexpr const char* global = "the lesson's accesses by models/global_memory.h";
  std::vector<CounterModel> all{{"global_load_sectors", count(t.load_sectors), global},
                                {"global_load_requests", count(t.load_requests), global},
                                {"global_store_sectors", count(0, t.store_sectors), global}};
  // nvcc joins loads of neighbouring k, and the counters also have what meets another warp's
  // accesses: these stand beside what is read.
  const auto show = [&](const char* role, int of_64_k, int of_tile) {
    all.push_back({role, count(of_64_k, of_tile), "the source's accesses by models/shared_memory.h",
                   shown_alone});
  };
  show("shared_load_wavefronts", t.load_wavefronts, t.staged_loads);
  show("shared_load_conflicts", t.load_conflicts, 0);
  if (asynchronous) return all;  // copies to shared memory are no stores to the counters
  show("shared_store_wavefronts", t.store_wavefronts, t.staged_stores);
  show("shared_store_conflicts", t.store_conflicts, t.staged_conflicts);
  return all;
}

std::vector<CounterModel> known_counters(const Rung& rung, const Problem& problem,
                                         const RungPlan& plan, int capability) {
  if (!plan.own_path || problem.flops() == 0 || problem.alpha == 0) return {};
  if (rung.counters != nullptr) return rung.counters(problem, capability);
  // Which of the variants' tiles it will be is not known yet.
  if (rung.traffic.load_sectors == 0 || !plan.variants.empty()) return {};
  return known_traffic(rung, problem, plan.kernel, capability);
}

std::string Rung::id() const { return std::string(traits(of).name) + "/" + name; }

bool runs_on(const Rung& rung, int major, int minor) {
  const int capability = 10 * major + minor;
  return rung.exact_capability ? capability == rung.capability : capability >= rung.capability;
}

namespace {

/// Most blocks of a grid's second dimension.
constexpr std::int64_t most_blocks_y = 65535;

/// Whether a lesson computes the product by its own kernel.
bool takes(const Lesson& lesson, const Problem& p) {
  const LessonTile& tile = lesson.tile;
  const ClassTraits& types = traits(p.of);
  const bool tensor = !lesson.order;
  const int inputs = 16 / element_bytes(types.input), outputs = 16 / element_bytes(types.output);
  // wgmma takes both operands along k alone, as in BLAS's TN, but of 16 bits.
  const bool along_k = tensor && p.of != Class::fp64 && element_bytes(types.input) != 2;
  if (p.transa != (along_k ? Transpose::yes : Transpose::no) || p.transb == Transpose::yes)
    return false;
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.alpha == 0) return false;
  if ((tensor || tile.vectors) &&
      (p.lda % inputs != 0 || p.ldb % inputs != 0 || p.ldc % outputs != 0))
    return false;
  // The rows of a row-major product are BLAS's columns.
  const bool by_column = lesson.order == Order::column_major;
  const std::int64_t rows = by_column ? p.m : p.n, columns = by_column ? p.n : p.m;
  const std::int64_t blocks_y = lesson.order == Order::row_major_x_along_rows
                                    ? ceil_div(rows, tile.m)
                                    : ceil_div(columns, tile.n);
  if (!tensor && blocks_y > most_blocks_y) return false;
  return tile.any_size ||
         (rows % (tile.m * tile.cluster_m) == 0 && columns % tile.n == 0 && p.k % tile.k == 0);
}

RungPlan plan_of(const Lesson& lesson, const Problem& problem) {
  if (!takes(lesson, problem)) return fallback_plan(problem);
  const LessonTile& tile = lesson.tile;
  return {
      [lesson](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
        lesson.launch(lesson, arguments, stream);
      },
      0,
      {lesson.kernel, tile.threads, tile.shared_bytes, tile.m, tile.n, tile.k, 1, tile.cluster_m}};
}

}  // namespace

void launch_simt(const Lesson& lesson, const Arguments& arguments, cudaStream_t stream) {
  const auto launch = [&]<class T>(T) {
    const bool by_column = lesson.order == Order::column_major;
    const Product<T> p = by_column ? column_major<T>(arguments) : row_major<T>(arguments);
    const auto ld = [&](const auto& x) { return by_column ? x.column_stride : x.row_stride; };
    const LessonProductOf<T> product{p.m,     p.n,      p.k,     p.alpha,  p.beta, p.a.data,
                                     ld(p.a), p.b.data, ld(p.b), p.c.data, ld(p.c)};
    const auto down = static_cast<unsigned>(ceil_div(p.m, lesson.tile.m));
    const auto across = static_cast<unsigned>(ceil_div(p.n, lesson.tile.n));
    const bool x_along_rows = lesson.order == Order::row_major_x_along_rows;
    launch_blocks(reinterpret_cast<LessonKernel<T>>(const_cast<void*>(lesson.kernel)),
                  x_along_rows ? dim3(across, down) : dim3(down, across), lesson.tile.threads,
                  product, stream);
  };
  return arguments.problem.of == Class::fp64 ? launch(double()) : launch(float());
}

Rung rung_of(Class of, const Lesson& lesson) {
  Rung rung{lesson.text};
  rung.of = of;
  rung.plan = [lesson](const Problem& p, int) {
    RungPlan plan = plan_of(lesson, p);
    for (const Lesson& tried : lesson.variants) {
      RungPlan variant = plan_of(tried, p);
      if (!variant.own_path) continue;
      const LessonTile& tile = tried.tile;
      variant.name = fmt::format("{}x{}x{} by {} threads", tile.m, tile.n, tile.k, tile.threads);
      plan.variants.push_back(std::move(variant));
    }
    return plan;
  };
  return rung;
}

}  // namespace fathom::gemm
