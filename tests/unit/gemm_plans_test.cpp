// Which tiles a product is cut into, and which operand is split.

#include "gemm/bench/cases.h"
#include "gemm/bench/rung.h"
#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "gemm/best/plan.h"
#include "gemm/best/tf32_planes.h"
#include "results/document_io.h"
#include "results/findings.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;
using fp32_3xtf32::choose_operands;
using fp32_3xtf32::tf32_planes;

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
  // A short k is not enough to share, and on few SMs neither leaves any without work.
  for (const auto& [size, k, sms, sooner] : {std::tuple{512, 4096, 132, true},
                                             {1024, 256, 132, false},
                                             {1024, 0, 132, false},
                                             {1024, 1024, 16, false}})
    CHECK(halves_of_small_tiles_are_sooner(make_problem(Class::bf16, size, size, k), sms) ==
          sooner);
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

// Which tiles: gemm_rungs_test.cpp.
TEST_CASE("how operands lie and how few tiles there are choose another kernel", "[gemm]") {
  const auto kernel = [](const char* id, std::int64_t m, std::int64_t n, std::int64_t k,
                         Transpose transa = no, Transpose transb = no) {
    const Rung& rung = *find_rung(id);
    return rung.plan(make_problem(rung.of, m, n, k, transa, transb), 132).kernel;
  };
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
  for (const std::int64_t size : {1024, 1280}) CHECK(shares(size, size, size) == cut);
  CHECK(shares(512, 512, 8192) == cut);
  CHECK(shares(1536, 1536, 1536) == whole);
  CHECK(shares(8192, 128, 8) == whole);
  // No tile, or less of k than a stage: no losses.
  CHECK(tile_losses({}, make_problem(Class::fp32, 4096, 4096, 4096), 1, 132).empty());
  const Problem flat = make_problem(Class::fp32, 4096, 4096, 8);
  CHECK(tile_losses({.tile_m = 128, .tile_n = 256, .tile_k = 16}, flat, 1, 132).empty());
}

TEST_CASE("which operand is split before a product, and how it lies", "[gemm]") {
  const auto choice = [](std::int64_t m, std::int64_t n, Transpose a, Transpose b, int gap_a = 0,
                         int gap_b = 0) {
    Problem p = make_problem(Class::fp32_3xtf32, m, n, m + n > 1024 ? 8192 : 512, a, b);
    p.lda += gap_a, p.ldb += gap_b;
    return choose_operands({p});
  };
  // The one along k needs no transposition: BLAS's A where it is transposed, its B where it is not.
  // Where both lie alike, C is contiguous along the kernel's columns.
  for (const auto& [a, b] : {std::pair{no, no}, {yes, yes}, {no, yes}, {yes, no}})
    CHECK(choice(512, 512, a, b).a_first == (a == no && b == no));
  for (const Transpose a : {no, yes}) {
    CHECK(choice(512, 512, yes, a).second.major == Major::k);
    // The small one of a skinny product.
    for (const Transpose b : {no, yes}) {
      CHECK(choice(16, 8192, a, b).second.outer == 16);
      CHECK(choice(8192, 16, a, b).second.outer == 16);
    }
  }
  // One on no 16 bytes, rather than that it is copied; where both are, as if none were.
  CHECK_FALSE(choice(512, 512, no, no, 1).a_first);
  CHECK(choice(512, 512, no, no, 1, 1).a_first);
}

TEST_CASE("planes hold both parts of whole tiles, with lines on 16 bytes", "[gemm]") {
  const auto planes = tf32_planes({nullptr, 130, 30, 30, Major::k, Element::f32}, 128);
  CHECK(planes.outer == 512);
  CHECK(planes.stride == 32);
  CHECK(planes.bytes() == 512 * 32 * 4);
  CHECK(tf32_planes({nullptr, 3, 1, 1, Major::k, Element::f32}, 16).bytes() == 512);
}

// What is recorded is held against recordings, above. When waves of blocks that
// share k counted as they would alone, an H200 took, with n = k = 4096, 963 us at m = 3088 to 1000
// at 3328 in 13 waves and 1107 us at 3600 to 1150 at 3840 in 15; whole, 894 us at 3344 to 896 at
// 3584 in 7 and 1009 us at 3856 to 1021 at 4096 in 8.
TEST_CASE("tiles leave few SMs without work, and k is shared by few waves alone", "[gemm]") {
  using fp32_3xtf32::best_tile;
  using fp32_3xtf32::split_tiles;
  using fp32_3xtf32::SplitTile;
  const auto tile = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return split_tiles[best_tile(m, n, k, 132)];
  };
  CHECK(tile(8192, 128, 8192) == SplitTile{128, 2});
  CHECK(tile(8192, 16, 8192) == SplitTile{16, 2});
  // So little k is not worth sharing. A wave and a half of whole tiles, whose k is long: three
  // shared ones, not timed.
  CHECK(tile(128, 128, 32).split_k == 1);
  CHECK(tile(8192, 300, 8192).split_k == 2);
  for (const std::int64_t size : {1, 100, 3000}) {
    for (const int few : {1, 16, 1000}) {
      const int found = best_tile(size, size, size, few);
      CHECK((found >= 0 && found < static_cast<int>(std::size(split_tiles))));
    }
  }
}
