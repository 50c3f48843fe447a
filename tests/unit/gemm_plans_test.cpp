// Which tiles a product is cut into.

#include "gemm/bench/rung.h"
#include "gemm/bench/rung_workload.h"
#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "gemm/best/plan.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("tiles that transpose take operands that lie as they do, with lines on 16 bytes",
          "[gemm]") {
  const fp32::WarpSpecialisedChoice a = fp32::transposing_producer_a(),
                                    b = fp32::transposing_producer_b(),
                                    both = fp32::transposing_producer_both();
  const auto product = [](std::int64_t m, std::int64_t n, Transpose transa, Transpose transb) {
    return make_problem(Class::fp32, m, n, 512, transa, transb);
  };
  constexpr Transpose no = Transpose::no, yes = Transpose::yes;
  for (const auto& [transa, transb, one, two] : {std::tuple{no, no, true, false},
                                                 {yes, yes, true, false},
                                                 {yes, no, false, true},
                                                 {no, yes, false, false}}) {
    const Problem p = product(512, 512, transa, transb);
    CAPTURE(p.describe());
    CHECK(a.takes(p) == one);
    CHECK(b.takes(p) == one);
    CHECK(both.takes(p) == two);
    Problem unaligned = p;
    ++unaligned.ldb;
    for (const fp32::WarpSpecialisedChoice& tile : {a, b, both}) CHECK_FALSE(tile.takes(unaligned));
  }
  // Of NN the second operand lies along k; on the tile's longer side it is where m is small.
  CHECK(a.placement(product(128, 8192, no, no)).covered == 2 * 128 * 8192);
  CHECK(b.placement(product(128, 8192, no, no)).covered == 128 * 8192);
  // Two cover as much: the one whose long side lies along C's columns.
  CHECK(a.placement(product(4096, 4096, no, no)) < b.placement(product(4096, 4096, no, no)));
  CHECK(b.placement(product(4096, 4096, yes, yes)) < a.placement(product(4096, 4096, yes, yes)));
  CHECK(a.placement(product(8192, 128, no, no)).covered == 128 * 8192);
}

TEST_CASE("stream-K and sliced depth say what workspace they take", "[gemm]") {
  constexpr int sms = 132;
  const Rung& rung = *find_rung("fp32/26_sliced_depth");
  const auto bytes = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return rung.plan(make_problem(Class::fp32, m, n, k), sms).workspace_bytes;
  };
  constexpr std::size_t a_tile = 128 * 256 * sizeof(float);
  // BLAS's B lies along k: copied for TMA only where its lines do not start on 16 bytes.
  CHECK(bytes(4095, 4095, 4095) >= sms * a_tile + 4095 * 4095 * sizeof(float));
  for (const auto& [m, n, k] : {std::tuple{4096, 4096, 4096}, {128, 8192, 8192}}) {
    CAPTURE(m, n, k);
    CHECK(bytes(m, n, k) >= sms * a_tile);
    CHECK(bytes(m, n, k) < sms * a_tile + std::size_t{4} * n * k);
  }
  CHECK(bytes(4096, 4096, 0) == 0);
  CHECK(bytes(16, 8192, 8192) == 0);
  // The operand of many rows may lie either way, the other is copied where it lies along k.
  CHECK(bytes(64, 8192, 8192) == 0);
  CHECK(bytes(8192, 64, 8192) == std::size_t{4} * 8192 * 64);
  CHECK(bytes(96, 8192, 8192) >= sms * a_tile);
  // The copy pays even where little is multiplied.
  for (const auto& [m, n, k] : {std::tuple{128, 8192, 8191}, {127, 300, 64}, {1, 1, 1}})
    CHECK(rung.takes_own_path(make_problem(Class::fp32, m, n, k)));
}

TEST_CASE("fp64's contender's workspace and report follow from one plan", "[gemm]") {
  constexpr int sms = 132;
  constexpr std::size_t column = sms * 128 * sizeof(double);  // of partial sums of every SM's tile
  const Rung& rung = *find_rung("fp64/08_late_reads");
  const auto problem = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return make_problem(Class::fp64, m, n, k);
  };
  const auto bytes = [&](const Problem& p) { return rung.plan(p, sms).workspace_bytes; };
  const auto tiles = [&](const Problem& p) {
    return rung.plan(p, sms).kernel.function == rung.kernel.function;
  };
  // The large operand streams by, and nobody leaves sums.
  CHECK(bytes(problem(16, 8192, 8192)) == 0);
  CHECK_FALSE(tiles(problem(16, 8192, 8192)));
  // Lines that do not start on 16 bytes do not stream, and the odd ones are copied.
  const Problem odd = problem(16, 8192, 8191);
  CHECK(bytes(odd) > 16 * column + 4096 * 8191 * sizeof(double));
  CHECK_FALSE(rung.takes_own_path(odd));
  CHECK_FALSE(tiles(odd));
  const Problem few = problem(64, 8192, 8192), many = problem(66, 8192, 8192);
  CHECK((bytes(few) > 64 * column && bytes(few) < 65 * column));
  CHECK_FALSE(tiles(few));
  CHECK((bytes(many) > 128 * column && bytes(many) < 129 * column));
  CHECK(tiles(many));
  for (const Problem& p : {few, many, problem(16, 8192, 8192)}) CHECK(rung.takes_own_path(p));
}

TEST_CASE("small products are cut so that the SMs have something to do", "[gemm]") {
  constexpr int sms = 132;
  const auto small = [&](Class of, std::int64_t m, std::int64_t n, std::int64_t k) {
    return halves_of_small_tiles_are_sooner(make_problem(of, m, n, k), sms);
  };
  // 32 wide tiles against 128 halves of small ones; 16 stages of bf16, 8 of fp8.
  CHECK(small(Class::bf16, 1024, 1024, 1024));
  CHECK(small(Class::fp8, 1024, 1024, 1024));
  CHECK(small(Class::fp16, 512, 512, 4096));
  // 128 wide tiles are as many as there are SMs, and less is read and added.
  CHECK_FALSE(small(Class::bf16, 2048, 2048, 2048));
  CHECK_FALSE(small(Class::bf16, 4096, 4096, 4096));
  // A short k is not enough to share.
  CHECK_FALSE(small(Class::bf16, 1024, 1024, 256));
  CHECK_FALSE(small(Class::bf16, 1024, 1024, 0));
  // On few SMs neither leaves any without work.
  CHECK_FALSE(halves_of_small_tiles_are_sooner(make_problem(Class::bf16, 1024, 1024, 1024), 16));
}

TEST_CASE("a rung whose tile depends on the product says which it takes, and how it lies",
          "[gemm]") {
  const auto kernel = [](const char* id, std::int64_t m, std::int64_t n, std::int64_t k,
                         Transpose transa = Transpose::no, Transpose transb = Transpose::no) {
    const Rung& rung = *find_rung(id);
    return rung.plan(make_problem(rung.of, m, n, k, transa, transb), 132).kernel;
  };
  const auto tile = [&](const char* id, std::int64_t m, std::int64_t n, std::int64_t k,
                        Transpose transa = Transpose::no, Transpose transb = Transpose::no) {
    const RungKernel found = kernel(id, m, n, k, transa, transb);
    REQUIRE(found.function != nullptr);
    return std::tuple{found.tile_m, found.tile_n, found.parts};
  };
  // In the rungs' own view, whose rows are BLAS's columns: the long side where it reaches less far
  // beyond C.
  const char* shares = "fp32/26_sliced_depth";
  CHECK(tile(shares, 4096, 4096, 4096) == std::tuple{128, 256, 0});
  CHECK(kernel(shares, 4096, 4096, 4096).function == find_rung(shares)->kernel.function);
  CHECK(tile(shares, 3088, 4096, 4096) == std::tuple{256, 128, 0});
  CHECK(tile(shares, 4096, 3088, 4096) == std::tuple{128, 256, 0});
  // Where two SMs and more share a tile, the kernel that cuts shares within stages; 1280³ has
  // 50 tiles, 1536³ 72, and 8 of k are less than a body for each SM.
  const void* const cut = kernel(shares, 8192, 128, 8192).function;
  CHECK(cut != kernel(shares, 4096, 4096, 4096).function);
  CHECK(tile(shares, 8192, 128, 8192) == std::tuple{128, 256, 0});
  CHECK(tile(shares, 128, 8192, 8192) == std::tuple{256, 128, 0});
  CHECK(kernel(shares, 1280, 1280, 1280).function == cut);
  CHECK(kernel(shares, 1536, 1536, 1536).function == kernel(shares, 4096, 4096, 4096).function);
  CHECK(kernel(shares, 8192, 128, 8).function == kernel(shares, 4096, 4096, 4096).function);
  // What is smaller than that tile too, but for few columns and small products, of whose tiles
  // nothing is told.
  CHECK(tile(shares, 100, 8192, 8192) == std::tuple{256, 128, 0});
  CHECK(kernel(shares, 64, 8192, 8192).function == nullptr);
  for (const std::int64_t size : {1, 256, 512, 640}) {
    CHECK(kernel(shares, size, size, size).function == nullptr);
  }
  CHECK(kernel(shares, 1024, 1024, 1024).function == cut);
  // A long k is shared, even by few tiles.
  CHECK(kernel(shares, 512, 512, 8192).function == cut);

  const char* planned = "fp32-3xtf32/02_planned_tiles";
  CHECK(tile(planned, 4096, 4096, 4096) == std::tuple{128, 128, 1});
  // Of NN the operand that goes through registers is A, of TN it is B.
  CHECK(tile(planned, 1024, 1024, 1024) == std::tuple{64, 128, 1});
  CHECK(std::get<2>(tile(planned, 8192, 128, 8192)) == 2);

  const char* registers = "tf32/03_large_clusters";
  constexpr Transpose no = Transpose::no, yes = Transpose::yes;
  CHECK(tile(registers, 4096, 4096, 4096) == std::tuple{256, 128, 1});
  CHECK(tile(registers, 4096, 4096, 4096, yes, yes) == std::tuple{128, 256, 1});
  CHECK(tile(registers, 1024, 1024, 1024) == std::tuple{128, 128, 1});
  CHECK(std::get<2>(tile(registers, 128, 8192, 8192)) == 2);
  CHECK(kernel(registers, 4096, 4096, 4096, yes, no).function == nullptr);
  CHECK(kernel(registers, 16, 8192, 8192).function == nullptr);

  // Where a GPU has too few tiles for large clusters, wide ones in clusters of two; skinny products
  // have the small side as columns, and halves of it one beside the other.
  const auto tma = [&](const char* id, std::int64_t m, std::int64_t n, std::int64_t k) {
    const RungKernel found = kernel(id, m, n, k);
    CHECK(found.function == find_rung(id)->kernel.function);
    return std::tuple{found.tile_m, found.tile_n, found.parts, found.cluster_m, found.cluster_n};
  };
  for (const char* id : {"bf16/15_deferred_stores", "fp8/01_promoted", "fp8/02_fast_accumulation",
                         "int8/01_wgmma"}) {
    CAPTURE(id);
    CHECK(tma(id, 4096, 4096, 4096) == std::tuple{128, 256, 1, 4, 2});
    CHECK(tma(id, 2048, 2048, 8192) == std::tuple{128, 256, 1, 2, 1});
  }
  for (const char* id : {"fp16/15_deferred_stores", "fp8/02_fast_accumulation"}) {
    CAPTURE(id);
    CHECK(tma(id, 128, 8192, 8192) == std::tuple{128, 64, 1, 1, 2});
    CHECK(tma(id, 8192, 128, 8192) == std::tuple{64, 128, 1, 2, 1});
  }
  CHECK(tma("fp8/01_promoted", 128, 8192, 8192) == std::tuple{128, 128, 2, 1, 1});
  CHECK(tma("fp8/01_promoted", 8192, 16, 8192) == std::tuple{16, 128, 2, 1, 1});
  CHECK(tma("bf16/15_deferred_stores", 64, 8192, 8192) == std::tuple{128, 64, 2, 1, 1});
  for (const char* id : {"bf16/15_deferred_stores", "fp8/01_promoted", "fp8/02_fast_accumulation"})
    CHECK(tma(id, 1024, 1024, 1024) == std::tuple{128, 128, 2, 1, 1});

  const auto cluster = [&](const char* id, Transpose a, Transpose b) {
    const RungKernel k = kernel(id, 4096, 4096, 4096, a, b);
    return std::pair{k.cluster_m, k.cluster_n};
  };
  CHECK(cluster(registers, no, no) == std::pair{2, 4});
  CHECK(cluster(registers, yes, yes) == std::pair{4, 2});
  CHECK(find_rung("fp16/15_deferred_stores")->kernel.cluster_m == 4);
  // fp64: two tiles of BLAS's n.
  CHECK(find_rung("fp64/06_cluster_multicast")->kernel.cluster_m == 2);
  const auto filled = [](std::int64_t m, std::int64_t n) {
    return tile_losses(find_rung("fp64/08_late_reads")->kernel,
                       make_problem(Class::fp64, m, n, 4096), 1, 132)
        .at("tile_efficiency");
  };
  CHECK(filled(3088, 4096) == 3088.0 / 3200);
  CHECK(filled(4096, 3088) == 3088.0 / 3328);
}

TEST_CASE("what a size loses to tiles and waves is less where the last wave is shared", "[gemm]") {
  RungKernel kernel{.threads = 256, .tile_m = 128, .tile_n = 256, .tile_k = 16};
  const Problem p = make_problem(Class::fp32, 4096, 4096, 4096),
                past = make_problem(Class::fp32, 4112, 4096, 4096);
  // 512 tiles on 132 SMs pay for four waves; one row of BLAS's m more, 256 columns of the tile, for
  // 544 tiles.
  CHECK(tile_losses(kernel, p, 1, 132).at("waves") == 512.0 / 132);
  CHECK(std::abs(tile_losses(kernel, p, 1, 132).at("tile_efficiency") - 512.0 / 528) < 1e-12);
  CHECK(std::abs(tile_losses(kernel, past, 1, 132).at("tile_efficiency") -
                 4112.0 / 4096 * 512 / (5 * 132)) < 1e-12);
  kernel.parts = 0;
  CHECK(tile_losses(kernel, p, 1, 132).at("tile_efficiency") == 1);
  CHECK(std::abs(tile_losses(kernel, past, 1, 132).at("tile_efficiency") - 4112.0 / 4352) < 1e-12);
  // A cluster of four tiles of 128 rows of BLAS's m goes beyond 33 of them to 36.
  const RungKernel clustered{
      .tile_m = 256, .tile_n = 128, .tile_k = 32, .cluster_m = 2, .cluster_n = 4};
  CHECK(tile_losses(clustered, p, 1, 132).at("waves") == 512.0 / 132);
  CHECK(tile_losses(clustered, past, 1, 132).at("waves") == 576.0 / 132);
  CHECK(std::abs(tile_losses(clustered, past, 1, 132).at("tile_efficiency") -
                 4112.0 / 4096 * 512 / (5 * 132)) < 1e-12);
  const RungKernel lying = clustered.transposed();
  CHECK(std::pair{lying.tile_m, lying.tile_n} == std::pair{128, 256});
  CHECK(std::pair{lying.cluster_m, lying.cluster_n} == std::pair{4, 2});
  CHECK(tile_losses({}, p, 1, 132).empty());
  CHECK(tile_losses(kernel, make_problem(Class::fp32, 4096, 4096, 8), 1, 132).empty());
  for (const char* id : {"fp32/26_sliced_depth", "fp64/08_late_reads"})
    CHECK(find_rung(id)->kernel.parts == 0);
  CHECK(find_rung("fp32-3xtf32/02_planned_tiles")->kernel.parts == 1);
}
