// Which tiles a product is cut into.

#include "gemm/bench/rung.h"
#include "gemm/bench/rung_workload.h"
#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "gemm/best/plan.h"
#include "results/document_io.h"
#include "results/query.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

constexpr Transpose no = Transpose::no, yes = Transpose::yes;

TEST_CASE("fp32's tiles are filled as operands lie, and as aligned copies where they must be",
          "[gemm]") {
  constexpr int sms = 132;
  const auto plan = [&](Transpose transa, Transpose transb, std::int64_t ldb = 4096) {
    Problem p = make_problem(Class::fp32, 4096, 4096, 4096, transa, transb);
    p.ldb = ldb;
    return fp32::warp_specialised_plan(p, sms);
  };
  // A along k, B along k, both and none: each has a kernel of its own, and copies nothing.
  std::set<const void*> kernels;
  for (const auto& [transa, transb] : {std::pair{no, no}, {yes, yes}, {yes, no}, {no, yes}}) {
    const RungPlan aligned = plan(transa, transb), other = plan(transa, transb, 4097);
    kernels.insert(aligned.kernel.function);
    CHECK(aligned.workspace_bytes < std::size_t{sms + 1} * 128 * 256 * sizeof(float));
    // Lines that start anywhere: copied to how TMA alone takes them.
    CHECK(other.kernel.function == plan(no, yes).kernel.function);
    CHECK(other.workspace_bytes > aligned.workspace_bytes + std::size_t{4096} * 4096 * 4 - 1);
  }
  CHECK(kernels.size() == 4);
  // The tile's longer side lies where it reaches less beyond C.
  const auto covered = [](std::int64_t m, std::int64_t n) {
    return fp32::covered_by_tiles(make_problem(Class::fp32, m, n, 512));
  };
  CHECK(covered(128, 8192) == 128 * 8192);
  CHECK(covered(8192, 128) == 128 * 8192);
  CHECK(covered(129, 257) == 256 * 384);
  const auto rows_of = [&](std::int64_t m, std::int64_t n) {
    return fp32::warp_specialised_plan(make_problem(Class::fp32, m, n, 512), sms).kernel.tile_m;
  };
  CHECK(rows_of(128, 8192) == 256);
  CHECK(rows_of(8192, 128) == 128);
  CHECK(rows_of(4096, 4096) == 128);  // both reach as far: along C's columns
}

TEST_CASE("small products are cut so that the SMs have something to do", "[gemm]") {
  constexpr int sms = 132;
  const auto small = [&](Class of, std::int64_t m, std::int64_t n, std::int64_t k) {
    return halves_of_small_tiles_are_sooner(make_problem(of, m, n, k), sms);
  };
  CHECK(small(Class::fp16, 512, 512, 4096));
  // A short k is not enough to share.
  CHECK_FALSE(small(Class::bf16, 1024, 1024, 256));
  CHECK_FALSE(small(Class::bf16, 1024, 1024, 0));
  // On few SMs neither leaves any without work.
  CHECK_FALSE(halves_of_small_tiles_are_sooner(make_problem(Class::bf16, 1024, 1024, 1024), 16));
}

TEST_CASE("what recordings say of a product's tiles is what its plan says", "[gemm]") {
  int told = 0;
  for (const std::string gpu : {"h200", "h100-80gb-hbm3"}) {
    const Document recorded = read_document(std::filesystem::path(FATHOM_SOURCE_DIR) /
                                            "recordings" / gpu / "gemm/result.json");
    for (const Entry& entry : recorded.entries) {
      const auto text = [&](const char* axis) {
        return std::get<std::string>(*find_axis(entry, axis));
      };
      const auto size = [&](const char* axis) {
        return std::get<std::int64_t>(*find_axis(entry, axis));
      };
      const Rung* rung = find_rung(text("type") + "/" + text("rung"));
      // The library's, and the one that runs the fastest of its variants.
      if (rung == nullptr || rung->id() == "fp32/row_major/10_autotuned") continue;
      CAPTURE(gpu, entry.name);
      const std::string layout = text("layout");
      const Problem p = make_problem(rung->of, size("m"), size("n"), size("k"),
                                     layout[0] == 'T' ? yes : no, layout[1] == 'T' ? yes : no);
      const RungPlan plan = rung->plan(p, 132);
      const RungKernel& kernel = plan.kernel;
      const auto& said = entry.extras;
      CHECK(plan.own_path == (said.at("own_path") == 1));
      if (!said.contains("waves")) continue;
      ++told;
      REQUIRE(kernel.function != nullptr);
      CHECK(kernel.threads == said.at("threads_per_block"));
      const double blocks = said.at("resident_warps") * 32 / kernel.threads;
      const auto losses = tile_losses(kernel, p, static_cast<int>(blocks), 132);
      CHECK(losses.at("waves") == said.at("waves"));
      CHECK(losses.at("tile_efficiency") == said.at("tile_efficiency"));
    }
  }
  CHECK(told >= 2 * 428);
}

// In the rungs' own view, whose rows are BLAS's columns; of shapes that no recording has.
TEST_CASE("a rung whose tile depends on the product says which it takes, and how it lies",
          "[gemm]") {
  struct Row {
    const char* id;
    std::int64_t m, n, k;
    int tile_m, tile_n, parts, cluster_m, cluster_n;
  };
  const auto kernel = [](const char* id, std::int64_t m, std::int64_t n, std::int64_t k,
                         Transpose transa = no, Transpose transb = no) {
    const Rung& rung = *find_rung(id);
    return rung.plan(make_problem(rung.of, m, n, k, transa, transb), 132).kernel;
  };
  for (const Row& row : {// The long side where it reaches less far beyond C.
                         Row{"fp32/26_sliced_depth", 4096, 3088, 4096, 128, 256, 0, 1, 1},
                         {"fp32/26_sliced_depth", 8192, 128, 8192, 128, 256, 0, 1, 1},
                         {"fp32/26_sliced_depth", 100, 8192, 8192, 256, 128, 0, 1, 1},
                         {"fp32-3xtf32/02_planned_tiles", 8192, 128, 8192, 128, 128, 2, 1, 1},
                         // Where a GPU has too few tiles for large clusters, wide ones in clusters
                         // of two; skinny products have the small side as columns, and halves of
                         // it one beside the other.
                         {"bf16/15_deferred_stores", 2048, 2048, 8192, 128, 256, 1, 2, 1},
                         {"bf16/15_deferred_stores", 8192, 128, 8192, 64, 128, 1, 2, 1},
                         {"bf16/15_deferred_stores", 64, 8192, 8192, 128, 64, 2, 1, 1},
                         {"fp8/01_promoted", 8192, 16, 8192, 16, 128, 2, 1, 1}}) {
    CAPTURE(row.id, row.m, row.n, row.k);
    const RungKernel k = kernel(row.id, row.m, row.n, row.k);
    CHECK(k.function != nullptr);
    CHECK(std::array{k.tile_m, k.tile_n, k.parts, k.cluster_m, k.cluster_n} ==
          std::array{row.tile_m, row.tile_n, row.parts, row.cluster_m, row.cluster_n});
  }
  // Both operands along k.
  const RungKernel along_k = kernel("tf32/03_large_clusters", 4096, 4096, 4096, yes, no);
  CHECK((along_k.function != nullptr && along_k.tile_n == 256 && along_k.cluster_m == 2));
  // The kernels for few columns and small products have no tile that could be told.
  CHECK(kernel("tf32/03_large_clusters", 16, 8192, 8192).tile_m == 0);
  const auto shares = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return kernel("fp32/26_sliced_depth", m, n, k).function;
  };
  const void* const sliced = shares(64, 8192, 8192);
  for (const std::int64_t size : {1, 256, 512, 640}) CHECK(shares(size, size, size) == sliced);
  // Where two SMs and more share a tile, the kernel that cuts shares within stages; 1280³ has
  // 50 tiles, 1536³ 72, and 8 of k are less than a body for each SM. A long k is shared, even by
  // few tiles.
  const void* const whole = shares(4096, 4096, 4096);
  const void* const cut = shares(8192, 128, 8192);
  CHECK((cut != whole && sliced != whole && sliced != cut));
  CHECK(shares(1280, 1280, 1280) == cut);
  CHECK(shares(1024, 1024, 1024) == cut);
  CHECK(shares(512, 512, 8192) == cut);
  CHECK(shares(1536, 1536, 1536) == whole);
  CHECK(shares(8192, 128, 8) == whole);
  // No tile, or less of k than a stage: no losses.
  CHECK(tile_losses({}, make_problem(Class::fp32, 4096, 4096, 4096), 1, 132).empty());
  const Problem flat = make_problem(Class::fp32, 4096, 4096, 8);
  CHECK(tile_losses({.tile_m = 128, .tile_n = 256, .tile_k = 16}, flat, 1, 132).empty());
}
