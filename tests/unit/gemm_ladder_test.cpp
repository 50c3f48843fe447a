#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "gemm/cases.h"
#include "gemm/engine_plan.h"
#include "gemm/fp32/fed_tiles.h"
#include "gemm/fp32/tilings.h"
#include "gemm/opponents.h"
#include "gemm/peak.h"
#include "gemm/request.h"
#include "gemm/rung.h"
#include "gemm/rung_choice.h"
#include "gemm/rung_workload.h"
#include "gemm/shapes.h"
#include "results/error.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

std::shared_ptr<Tuning> no_tuning() {
  return std::make_shared<Tuning>(TuningRequest{.unused = true}, TuningFingerprint{"a GPU", "580", 132});
}

}  // namespace

TEST_CASE("rungs are numbered in order, say what they add, and are found by their id", "[gemm]") {
  std::set<std::string> ids;
  for (const ClassTraits& row : all_classes()) {
    std::string last;
    for (const Rung* rung : rungs_of(row.of)) {
      CAPTURE(rung->id);
      CHECK(rung->id.starts_with(std::string(row.name) + "/"));
      CHECK(ids.insert(rung->id).second);
      CHECK(rung->id > last);
      last = rung->id;
      CHECK_FALSE(rung->idea.empty());
      CHECK_FALSE(rung->gain.empty());
      CHECK(rung->launch != nullptr);
      CHECK(rung->kernel.function != nullptr);
      CHECK(rung->kernel.threads % 32 == 0);
      CHECK(find_rung(rung->id) == rung);
    }
  }
  CHECK(rungs_of(Class::fp32).size() >= 22);
  CHECK(find_rung("fp32/99") == nullptr);
}

TEST_CASE("a rung that needs newer instructions is left out on older GPUs", "[gemm]") {
  const Rung& async = *find_rung("fp32/20_async_multistage");
  CHECK_FALSE(runs_on(async, 7, 5));
  CHECK(runs_on(async, 8, 0));
  CHECK(runs_on(async, 12, 0));
  Rung hopper = async;
  hopper.capability = 90;
  hopper.exact_capability = true;
  CHECK(runs_on(hopper, 9, 0));
  CHECK_FALSE(runs_on(hopper, 10, 0));
}

TEST_CASE("half precision runs wherever the chip multiplies matrices of it", "[gemm]") {
  for (const char* type : {"fp16", "bf16"}) {
    const auto rung = [&](const char* name) -> const Rung& {
      const Rung* found = find_rung(std::string(type) + "/" + name);
      REQUIRE(found != nullptr);
      return *found;
    };
    CAPTURE(type);
    const bool turing = std::string(type) == "fp16";
    CHECK(runs_on(rung("01_simt"), 7, 5));
    for (const char* name : {"02_wmma_global", "03_wmma", "04_mma_sync"}) {
      CAPTURE(name);
      CHECK(runs_on(rung(name), 7, 5) == turing);
      CHECK(runs_on(rung(name), 8, 0));
      CHECK(runs_on(rung(name), 12, 0));
    }
    CHECK_FALSE(runs_on(rung("05_multistage"), 7, 5));
    CHECK(runs_on(rung("05_multistage"), 8, 6));
    CHECK(runs_on(rung("05_multistage"), 10, 0));
    // Shared memory of a block: 64 KiB on Turing, 99 KiB on the smaller chips since.
    for (const char* name : {"02_wmma_global", "03_wmma", "04_mma_sync"})
      CHECK(rung(name).kernel.dynamic_shared_bytes <= 64 * 1024);
    CHECK(rung("05_multistage").kernel.dynamic_shared_bytes <= 99 * 1024);
  }
}

TEST_CASE("half-precision rungs take every transposition as it lies", "[gemm]") {
  for (const char* id : {"fp16/01_simt", "bf16/02_wmma_global", "fp16/03_wmma", "bf16/04_mma_sync", "fp16/05_multistage",
                         "bf16/13_all_layouts"}) {
    CAPTURE(id);
    const Rung* const rung = find_rung(id);
    REQUIRE(rung != nullptr);
    for (const Transpose a : {Transpose::no, Transpose::yes}) {
      for (const Transpose b : {Transpose::no, Transpose::yes}) {
        const Problem whole = make_problem(rung->of, 512, 256, 96, a, b);
        CHECK(rung->takes_own_path(whole));
        CHECK(rung->workspace_bytes(whole, 132) == 0);
      }
    }
    const Problem odd = make_problem(rung->of, 511, 255, 95);
    CHECK(rung->takes_own_path(odd) == (rung->id == "fp16/01_simt"));
  }
}

TEST_CASE("counters of half-precision rungs follow from their tiles", "[gemm]") {
  const auto counters = [](const char* id, const Problem& problem, int capability) {
    std::map<std::string, double> values;
    for (const CounterModel& m : find_rung(id)->counters(problem, capability)) values[m.role] = m.value;
    return values;
  };
  const Problem p = make_problem(Class::fp16, 512, 256, 64);
  const double fma = 512.0 * 256 * 64;
  CHECK(counters("fp16/01_simt", p, 90).at("fma_instructions") == fma);
  for (const char* id : {"fp16/02_wmma_global", "fp16/03_wmma", "fp16/04_mma_sync", "fp16/05_multistage"}) {
    CAPTURE(id);
    CHECK(counters(id, p, 90).at("tensor_instructions") == fma / (16 * 8 * 16));
    CHECK(counters(id, p, 75).at("tensor_instructions") == fma / (16 * 8 * 8));
  }
  // Four tiles of eight warps, four steps of 16, eight loads each.
  CHECK(counters("fp16/04_mma_sync", p, 90).at("shared_matrix_load_instructions") == 4 * 8 * 4 * 8);
  CHECK(counters("fp16/05_multistage", p, 90).at("shared_matrix_load_instructions") == 4 * 8 * 5 * 8);
  // At the edges tiles are whole all the same.
  CHECK(counters("fp16/03_wmma", make_problem(Class::fp16, 264, 8, 40), 90).at("tensor_instructions") ==
        2.0 * 128 * 256 * 64 / (16 * 8 * 16));
}

TEST_CASE("the claim on wmma at 8192 cubed has a case of its own", "[gemm]") {
  DeviceFacts device;
  device.name = "NVIDIA H200";
  device.major = 9;
  device.sms = 132;
  device.bounds = {{"fp32_fma", "FLOP/s", "planted", 66.9e12}};
  int found = 0;
  for (const Case& c : ladder_cases(device, {}, no_tuning())) {
    const bool claimed = c.axes.front().second == AxisValue{std::string("claim")};
    if (!claimed || c.name == "fp32/cuBLAS/4096x4096x4096/claim") continue;
    ++found;
    CHECK(c.name == "fp16/03_wmma/NN/8192x8192x8192");
    const auto alpha = std::ranges::find(c.axes, "alpha", &Axes::value_type::first);
    REQUIRE(alpha != c.axes.end());
    CHECK(std::get<double>(alpha->second) == 0.5);
    CHECK(c.extras.at("published_peak_FLOP_per_s") == 989.5e12);
  }
  CHECK(found == 1);
}

TEST_CASE("the plan fills the SMs", "[gemm]") {
  constexpr int sms = 132;
  using fp32::make_plan;
  CHECK(make_plan(15, 15, 100, sms).tiling == nullptr);
  CHECK(make_plan(4096, 4096, 0, sms).tiling == nullptr);
  const fp32::Plan large = make_plan(8192, 8192, 8192, sms);
  REQUIRE(large.tiling != nullptr);
  CHECK(large.parts == 1);
  CHECK(large.tiling->m * large.tiling->n == 128 * 256);
  for (const std::int64_t n : {16, 128}) {
    const fp32::Plan skinny = make_plan(8192, n, 8192, sms);
    REQUIRE(skinny.tiling != nullptr);
    CAPTURE(n, skinny.tiling->name, skinny.parts);
    CHECK(skinny.tiling->n <= n);
    CHECK(skinny.parts > 1);
    const std::int64_t blocks =
        (8192 / skinny.tiling->m) * ((n + skinny.tiling->n - 1) / skinny.tiling->n) * skinny.parts;
    CHECK(blocks >= sms * 9 / 10);
  }
  for (std::int64_t size = 16; size < 3000; size += 97) {
    const fp32::Plan plan = make_plan(size, size, size, sms);
    if (plan.tiling == nullptr) continue;
    CHECK(fp32::fits(*plan.tiling, size, size, size));
    CHECK(plan.parts <= fp32::most_parts(*plan.tiling, size));
  }
}

TEST_CASE("the plan does not take a tile that multiplies fast and waits for its operands", "[gemm]") {
  constexpr int sms = 132;
  using fp32::make_plan;
  // 256 tiles of 256 x 16 occupy every SM at 1024 cubed, and read ten times what larger ones do.
  for (const std::int64_t size : {512, 768, 1024, 1536, 2048, 4096}) {
    const fp32::Plan plan = make_plan(size, size, size, sms);
    REQUIRE(plan.tiling != nullptr);
    CAPTURE(size, plan.tiling->name, plan.parts);
    CHECK(plan.tiling->n >= 128);
    const std::int64_t tiles = (size / plan.tiling->m) * (size / plan.tiling->n);
    CHECK(tiles * plan.parts >= sms / 2);
  }
  // Of few columns it is the only one that fits.
  CHECK(make_plan(8192, 100, 8192, sms).tiling->n == 16);
}

TEST_CASE("tiles that transpose take operands that lie as they do, with lines on 16 bytes", "[gemm]") {
  const fp32::FedChoice a = fp32::transposing_fed_a(), b = fp32::transposing_fed_b(),
                        both = fp32::transposing_fed_both();
  const auto product = [](std::int64_t m, std::int64_t n, Transpose transa, Transpose transb) {
    return make_problem(Class::fp32, m, n, 512, transa, transb);
  };
  constexpr Transpose no = Transpose::no, yes = Transpose::yes;
  for (const auto& [transa, transb, one, two] :
       {std::tuple{no, no, true, false}, {yes, yes, true, false}, {yes, no, false, true}, {no, yes, false, false}}) {
    const Problem p = product(512, 512, transa, transb);
    CAPTURE(p.describe());
    CHECK(a.takes(p) == one);
    CHECK(b.takes(p) == one);
    CHECK(both.takes(p) == two);
    Problem unaligned = p;
    ++unaligned.ldb;
    for (const fp32::FedChoice& tile : {a, b, both}) CHECK_FALSE(tile.takes(unaligned));
  }
  // Of NN the second operand lies along k; on the tile's longer side it is where m is small.
  CHECK(a.placement(product(128, 8192, no, no)).covered == 2 * 128 * 8192);
  CHECK(b.placement(product(128, 8192, no, no)).covered == 128 * 8192);
  // Of two that cover as much, the one whose long side lies along C's columns.
  CHECK(a.placement(product(4096, 4096, no, no)) < b.placement(product(4096, 4096, no, no)));
  CHECK(b.placement(product(4096, 4096, yes, yes)) < a.placement(product(4096, 4096, yes, yes)));
  CHECK(a.placement(product(8192, 128, no, no)).covered == 128 * 8192);
}

TEST_CASE("equal shares and sliced depth say what workspace they take", "[gemm]") {
  constexpr int sms = 132;
  const Rung& shares = *find_rung("fp32/25_equal_shares");
  const Rung& sliced = *find_rung("fp32/26_sliced_depth");
  const auto bytes = [&](const Rung& rung, std::int64_t m, std::int64_t n, std::int64_t k) {
    return rung.workspace_bytes(make_problem(Class::fp32, m, n, k), sms);
  };
  constexpr std::size_t a_tile = 128 * 256 * sizeof(float);
  // BLAS's B lies along k: copied for the copy engine only where its lines do not start on 16 bytes, and
  // the product is large for the copy.
  CHECK(bytes(shares, 4095, 4095, 4095) >= sms * a_tile + 4095 * 4095 * sizeof(float));
  for (const auto& [m, n, k] : {std::tuple{4096, 4096, 4096}, {128, 8192, 8192}, {128, 8192, 8191}}) {
    CAPTURE(m, n, k);
    CHECK(bytes(shares, m, n, k) >= sms * a_tile);
    CHECK(bytes(shares, m, n, k) < sms * a_tile + std::size_t{4} * n * k);
  }
  CHECK(bytes(shares, 4096, 4096, 0) == 0);
  CHECK(bytes(sliced, 16, 8192, 8192) == 0);
  CHECK(bytes(sliced, 17, 8192, 8192) == bytes(shares, 17, 8192, 8192));
  for (const Rung* rung : {&shares, &sliced}) {
    CHECK(rung->takes_own_path(make_problem(Class::fp32, 128, 256, 64)));
    CHECK(rung->takes_own_path(make_problem(Class::fp32, 256, 128, 64)));
    CHECK_FALSE(rung->takes_own_path(make_problem(Class::fp32, 127, 300, 64)));
  }
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
  // Of a short k there is not enough to share.
  CHECK_FALSE(small(Class::bf16, 1024, 1024, 256));
  CHECK_FALSE(small(Class::bf16, 1024, 1024, 0));
  // On few SMs neither leaves any without work.
  CHECK_FALSE(halves_of_small_tiles_are_sooner(make_problem(Class::bf16, 1024, 1024, 1024), 16));
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
  CHECK(tile_losses({}, p, 1, 132).empty());
  CHECK(tile_losses(kernel, make_problem(Class::fp32, 4096, 4096, 8), 1, 132).empty());
  for (const char* id : {"fp32/25_equal_shares", "fp32/26_sliced_depth", "fp32/27_small_products", "fp64/07_stream_k",
                         "fp64/08_late_reads", "fp64/09_small_products"})
    CHECK(find_rung(id)->kernel.parts == 0);
  CHECK(find_rung("fp32/23_engine_fed")->kernel.parts == 1);
}

TEST_CASE("the fastest algorithm has the lowest median, and one that failed is not taken",
          "[gemm]") {
  using Times = std::vector<std::vector<double>>;
  CHECK_FALSE(fastest(Times{}).has_value());
  CHECK_FALSE(fastest(Times{{}, {}}).has_value());
  CHECK(fastest(Times{{3, 3, 3}, {}, {1, 2, 9}, {2, 2, 2}}) == 2);
  CHECK(fastest(Times{{}, {5}}) == 1);
  CHECK_THROWS(fastest(Times{{std::numeric_limits<double>::quiet_NaN()}}));
}

TEST_CASE("algorithms near the fastest are tried again, others and failed ones are not", "[gemm]") {
  using Times = std::vector<std::vector<double>>;
  using Indices = std::vector<std::size_t>;
  CHECK(finalists(Times{}).empty());
  CHECK(finalists(Times{{}, {}}).empty());
  CHECK(finalists(Times{{1.0}, {}, {1.49}, {1.51}, {5.0}}) == Indices{0, 2});
  CHECK(finalists(Times{{3.0}, {1.0}}) == Indices{1});
  CHECK(finalists(Times{{9.0, 1.1}, {1.0, 1.0}}) == Indices{0, 1});  // one launch may be held up
  CHECK(finalists(Times{{7e-6}, {5e-6}, {15e-6}}) == Indices{0, 1});
}

TEST_CASE("the fastest few meet again, in the heuristic's order", "[gemm]") {
  using Times = std::vector<std::vector<double>>;
  using Indices = std::vector<std::size_t>;
  const Times times{{4, 4}, {}, {1, 9, 1}, {3}, {2, 2}};
  CHECK(fastest_few(times, 2) == Indices{2, 4});
  CHECK(fastest_few(times, 9) == Indices{0, 2, 3, 4});
  CHECK(fastest_few(times, 0).empty());
  CHECK(fastest_few(Times{{1}, {1}, {1}}, 2) ==
        Indices{0, 1});  // the heuristic thinks better of them
  CHECK(fastest_few(Times{}, 2).empty());
}

TEST_CASE("a choice that is slower than the library's default says so", "[gemm]") {
  CHECK(slower_than_default(1.0, 1.1).empty());
  CHECK(slower_than_default(1.019, 1.0).empty());
  CHECK(slower_than_default(1.092, 1.0) ==
        "; when it was chosen it took 9.2 % longer than the library's default");
}

TEST_CASE("a product's fastest algorithm is chosen once a run, and for each kind of sums", "[gemm]") {
  AlgorithmChoices choices;
  const Problem p = make_problem(Class::fp8, 64, 64, 64, Transpose::yes);
  choices.of(p, true) = AlgorithmChoice{3};
  CHECK(choices.of(p, true)->index == 3);
  CHECK_FALSE(choices.of(p, false).has_value());
  Problem other = p;
  other.ldc = 80;
  CHECK_FALSE(choices.of(other, true).has_value());
  other = p;
  other.beta = 0.5;
  CHECK_FALSE(choices.of(other, true).has_value());
}

TEST_CASE("the command line asks for rungs and products", "[gemm]") {
  const Request all = read_request({});
  CHECK(all.wants(*find_rung("fp32/01_naive")));
  CHECK_FALSE(all.problem.has_value());
  const Request two = read_request({{"rung", std::string("fp32/01_naive,fp32/04_shared_memory")}});
  CHECK(two.wants(*find_rung("fp32/04_shared_memory")));
  CHECK_FALSE(two.wants(*find_rung("fp32/02_coalesced")));
  CHECK_FALSE(read_request({{"type", std::string("fp64")}}).wants(*find_rung("fp32/01_naive")));
  const Request product = read_request({{"m", std::int64_t{100}}, {"k", std::int64_t{0}},
                                        {"transa", std::string("t")}, {"lda", std::int64_t{7}},
                                        {"alpha", 0.5}, {"type", std::string("fp32")}});
  REQUIRE(product.problem.has_value());
  CHECK((product.problem->m == 100 && product.problem->n == 4096 && product.problem->k == 0));
  CHECK((product.problem->lda == 7 && product.problem->alpha == 0.5));
  CHECK(product.problem->transa == Transpose::yes);
  for (const OptionValues& wrong :
       {OptionValues{{"rung", std::string("fp32/1_naive")}}, {{"type", std::string("fp33")}},
        {{"transa", std::string("X")}}, {{"m", std::int64_t{10}}, {"lda", std::int64_t{9}}},
        {{"rung", std::string("fp32/02_coalesced")}, {"type", std::string("bf16")}},
        {{"alpha", 0.5}}, {{"beta", 0.5}, {"rung", std::string("int8/01_wgmma")}}}) {
    CHECK_THROWS_AS(read_request(wrong), Error);
  }
  // Integers take no half, whoever else is asked for does.
  CHECK(read_request({{"alpha", 0.5}, {"type", std::string("fp64")}}).problem->of == Class::fp64);
  CHECK_NOTHROW(read_request({{"beta", 2.0}, {"type", std::string("int8")}}));
}

TEST_CASE("rungs that were asked for and do not run here are named", "[gemm]") {
  DeviceFacts ampere;
  ampere.major = 8;
  ampere.minor = 6;
  const auto refusal = [&](const OptionValues& values) -> std::string {
    try {
      ladder_cases(ampere, read_request(values), no_tuning());
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::bad_input);
      return error.what();
    }
    return "";
  };
  CHECK(refusal({{"rung", std::string("fp32/01_naive")}}).empty());
  CHECK(refusal({{"rung", std::string("fp32/01_naive,bf16/06_wgmma")}}) ==
        "The rung bf16/06_wgmma runs on compute capability 9.0 only, and this GPU has 8.6: take others.");
  CHECK(refusal({{"type", std::string("fp8")}}) ==
        "No rung of this type runs on compute capability 8.6: take another.");
}

TEST_CASE("a GPU is not given what it is too small or too slow for", "[gemm]") {
  DeviceFacts gpu;
  gpu.major = 9;
  gpu.sms = 132;
  gpu.sm_clock_max_hz = 1980e6;
  gpu.memory_bytes = 141ull << 30;
  const auto names = [&] {
    std::set<std::string> found;
    for (const Case& c : ladder_cases(gpu, {}, no_tuning())) found.insert(c.name);
    return found;
  };
  const auto of_h200 = names();
  for (const char* largest : {"fp64/09_small_products/NN/16384x16384x16384/sizes",
                              "fp32/27_small_products/NN/16384x16384x16384/sizes"})
    CHECK(of_h200.contains(largest));
  gpu.memory_bytes = 24ull << 30;
  const auto of_small = names();
  CHECK_FALSE(of_small.contains("fp64/09_small_products/NN/12288x12288x12288/sizes"));
  CHECK(of_small.contains("fp64/09_small_products/NN/8192x8192x8192/sizes"));
  // A hundredth of the units: fp32 at 4096 cubed takes 0.2 s at the peak.
  gpu.sms = 1;
  const auto of_slow = names();
  CHECK(of_slow.contains("fp32/01_naive/NN/1024x1024x1024"));
  CHECK_FALSE(of_slow.contains("fp32/01_naive/NN/4096x4096x4096"));
  CHECK(of_slow.contains("tf32/03_large_clusters/NN/4096x4096x4096"));
  CHECK_FALSE(of_slow.contains("tf32/03_large_clusters/NN/4096x4096x4096/tiles"));
  // Whoever asks for a product gets it.
  CHECK(ladder_cases(gpu, read_request({{"m", std::int64_t{16384}}, {"rung", std::string("fp32/01_naive")}}), no_tuning())
            .size() == 1);
}

TEST_CASE("the sweep has every rung that the GPU runs, and contenders where they must win", "[gemm]") {
  DeviceFacts device;
  device.major = 9;
  device.sms = 132;
  device.bounds = {{"fp32_fma", "FLOP/s", "planted", 66.9e12}};
  const auto cases = ladder_cases(device, {}, no_tuning());
  std::set<std::string> names;
  std::size_t contests = 0;
  for (const Case& c : cases) {
    CHECK(names.insert(c.name).second);
    CHECK(c.prepare);
    contests += c.name.find("4095x4095x4095") != std::string::npos;
  }
  CHECK(contests >= 1);
  // Eight seconds each: of rungs that are held against the same library the last.
  CHECK(std::ranges::count_if(names, [](const std::string& name) {
          return name.starts_with("fp32/") && name.ends_with("/sustained");
        }) == 1);
  CHECK(names.contains("fp32/27_small_products/NN/4096x4096x4096/sustained"));
  CHECK(names.contains("fp16/16_small_products/NN/8192x8192x8192/sustained"));
  CHECK(names.contains("fp8/01_promoted/TN/4096x4096x4096/sustained"));
  CHECK(names.contains("fp8/02_fast_accumulation/TN/4096x4096x4096/sustained"));
  // In the layout in which the rung's own kernel and the library's are timed.
  CHECK(names.contains("int8/01_wgmma/TN/4096x4096x4096/sustained"));
  CHECK(names.contains("int8/01_wgmma/TN/128x8192x8192"));
  CHECK(find_rung("int8/01_wgmma")
            ->takes_own_path(contested_problem(Class::int8, {4096, 4096, 4096})));
  CHECK(names.contains("fp32/01_naive/NN/4096x4096x4096"));
  CHECK(names.contains("fp32/22_planned_tiles/NN/16x8192x8192"));
  CHECK_FALSE(names.contains("fp32/25_equal_shares/NN/128x8192x8192"));
  CHECK(names.contains("fp32/27_small_products/NN/16x8192x8192"));
  for (const char* of_the_top : {"256x256x256/sizes", "16384x16384x16384/sizes", "4112x4096x4096/tiles"}) {
    CAPTURE(of_the_top);
    CHECK(std::ranges::count_if(names, [&](const std::string& name) {
            return name.starts_with("fp32/") && name.ends_with(of_the_top);
          }) == 1);
  }
  for (const Case& c : cases) {
    if (c.name.ends_with("/sizes") || c.name.ends_with("/tiles")) CHECK(c.opponents.size() <= 1);
    const bool of_ladder = std::get<std::string>(c.axes.front().second) == "ladder";
    CHECK(c.notes.contains("idea") == of_ladder);
  }
  device.major = 7;
  device.minor = 5;
  for (const Case& c : ladder_cases(device, {}, no_tuning())) CHECK(c.name.find("async") == std::string::npos);
}

TEST_CASE("every class that a GPU runs has a contender there, with sizes, tiles and lasting load",
          "[gemm]") {
  // Of each class the rungs that contend, and under lasting load.
  using Found = std::map<std::string, std::set<std::string>>;
  const auto found_on = [](int major, int minor, const char* part) {
    DeviceFacts device;
    device.major = major;
    device.minor = minor;
    Found found;
    for (const Case& c : ladder_cases(device, {}, no_tuning())) {
      const auto axis = [&](const char* name) {
        return std::get<std::string>(
            std::ranges::find(c.axes, name, &Axes::value_type::first)->second);
      };
      if (axis("part") == part) found[axis("type")].insert(axis("rung"));
    }
    return found;
  };
  const Found of_ampere{{"fp32", {"22_planned_tiles"}},
                        {"fp64", {"03_tensor_cores"}},
                        {"fp16", {"05_multistage"}},
                        {"bf16", {"05_multistage"}}};
  Found of_blackwell = of_ampere;
  of_blackwell["fp64"] = {"04_wide_products"};
  for (const char* part : {"contest", "sizes", "tiles", "sustained"}) {
    CAPTURE(part);
    CHECK(found_on(8, 0, part) == of_ampere);
    CHECK(found_on(12, 0, part) == of_blackwell);
  }
  const Found turing = found_on(7, 5, "contest");
  CHECK(turing.at("fp32") == std::set<std::string>{"19_warp_tile"});
  CHECK_FALSE(turing.contains("tf32"));
  // Where a class has contenders of its own, no other stands in.
  const Found hopper = found_on(9, 0, "contest");
  CHECK(hopper.at("fp32") == std::set<std::string>{"22_planned_tiles", "27_small_products"});
  CHECK(hopper.at("fp64") == std::set<std::string>{"09_small_products"});
  CHECK(hopper.at("bf16") == std::set<std::string>{"16_small_products"});
}

TEST_CASE("every rung of a ladder rests as long before a sample, and points of a curve do not",
          "[gemm]") {
  DeviceFacts device;
  device.major = 9;
  device.sms = 132;
  device.sm_clock_max_hz = 1980e6;
  for (const Case& c : ladder_cases(device, {}, no_tuning())) {
    CAPTURE(c.name);
    if (c.sustained || std::get<std::string>(c.axes[2].second) == "cuBLAS") continue;
    const bool of_curve = c.name.ends_with("/sizes") || c.name.ends_with("/tiles");
    CHECK(c.precision->rest == (of_curve ? 0 : 2));
    const bool contender =
        !c.opponents.empty() || find_rung(std::get<std::string>(c.axes[1].second) + "/" +
                                          std::get<std::string>(c.axes[2].second))
                                    ->contender;
    CHECK(c.precision->time_limit_s <= (contender && !of_curve ? 1 : 0.1));
  }
  // What takes long even at the peak is not asked for two dozen samples of each side.
  device.sms = 20;
  for (const Case& c : ladder_cases(device, {}, no_tuning())) {
    if (c.name == "fp64/09_small_products/NN/8192x8192x8192") CHECK(c.precision->min_samples == 6);
    if (c.name == "fp64/09_small_products/NN/4096x4096x4096") CHECK(c.precision->min_samples == 24);
  }
}

TEST_CASE("the last contenders are timed in the layouts that the ladder is not in", "[gemm]") {
  DeviceFacts device;
  device.major = 9;
  device.sms = 132;
  std::map<std::string, std::set<std::string>> layouts;  // of each rung
  for (const Case& c : ladder_cases(device, {}, no_tuning())) {
    if (!c.name.ends_with("/4096x4096x4096/layouts")) continue;
    const auto axis = [&](const char* name) {
      return std::get<std::string>(
          std::ranges::find(c.axes, name, &Axes::value_type::first)->second);
    };
    layouts[axis("type") + "/" + axis("rung")].insert(axis("layout"));
    CHECK(axis("part") == "layouts");
    CHECK((c.precision->time_limit_s <= 0.3 && c.precision->rest == 2));
    CHECK(c.counters.empty());
  }
  CHECK(layouts.size() == 9);
  CHECK(layouts.at("fp32/27_small_products") == std::set<std::string>{"NT", "TN", "TT"});
  CHECK(layouts.at("int8/01_wgmma") == std::set<std::string>{"NN", "NT", "TT"});
  CHECK(layouts.contains("fp8/01_promoted"));
}

TEST_CASE("a rung that was asked for is a contender where the whole ladder makes it one",
          "[gemm]") {
  DeviceFacts device;
  device.major = 9;
  CHECK_FALSE(contends(*find_rung("fp16/05_multistage"), device));
  device.major = 8;
  CHECK(contends(*find_rung("fp16/05_multistage"), device));
  CHECK_FALSE(contends(*find_rung("fp16/04_mma_sync"), device));
}

TEST_CASE("a class' peak is its units' rate at the highest clock", "[gemm]") {
  DeviceFacts h200;
  h200.major = 9;
  h200.sms = 132;
  CHECK_FALSE(arithmetic_peak(h200, Class::fp32).has_value());  // the clock is not known
  h200.sm_clock_max_hz = 1980e6;
  const auto tera = [&](Class of) { return std::round(arithmetic_peak(h200, of)->value * 1e-11) / 10; };
  CHECK(tera(Class::fp32) == 66.9);
  CHECK(tera(Class::fp64) == 66.9);  // tensor cores: twice the FMA units
  CHECK(tera(Class::tf32) == 535.3);
  CHECK(tera(Class::fp32_3xtf32) == 178.4);
  CHECK(tera(Class::bf16) == 1070.5);
  CHECK(tera(Class::fp16) == 1070.5);
  CHECK(tera(Class::fp8) == 2141.1);
  CHECK(tera(Class::int8) == 2141.1);
  CHECK(arithmetic_peak(h200, Class::bf16)->clock_hz == 1980e6);
  h200.major = 7;
  h200.minor = 5;
  CHECK_FALSE(arithmetic_peak(h200, Class::bf16).has_value());  // Turing has no bf16
}
