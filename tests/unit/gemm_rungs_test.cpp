// Rungs as the ladder lists them, which of the library's algorithms stand against them, and how a
// kernel's name is shown.

#include "gemm/bench/cases.h"
#include "gemm/bench/conclude.h"
#include "gemm/bench/problem.h"
#include "gemm/bench/rung.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE(
    "rungs are numbered in order behind their parents, say what they add, and are found by their "
    "id",
    "[gemm]") {
  std::set<std::string> ids;
  int roots = 0;
  for (const ClassTraits& row : all_classes()) {
    std::string last;
    for (const Rung* rung : rungs_of(row.of)) {
      CAPTURE(rung->id());
      const std::string type = std::string(row.name) + "/", parent = rung->parent;
      CHECK(rung->id().starts_with(type));
      CHECK((parent.empty() || ids.contains(type + parent)));
      roots += parent.empty() && !rung->contender;
      CHECK(ids.insert(rung->id()).second);
      const auto folder = [](const std::string& id) { return id.substr(0, id.rfind('/')); };
      if (folder(last) == folder(rung->id())) CHECK(rung->id() > last);
      last = rung->id();
      CHECK(*rung->idea != 0);
      CHECK(*rung->gain != 0);
      const RungKernel kernel = rung->plan(make_problem(row.of, 4096, 4096, 4096), 132).kernel;
      CHECK(kernel.function != nullptr);
      CHECK(kernel.threads % 32 == 0);
      CHECK(find_rung(rung->id()) == rung);
    }
  }
  CHECK(rungs_of(Class::fp32).size() >= 21);
  CHECK(roots == 8);  // two trees of fp32, and one of each other type that has lessons
  CHECK(find_rung("fp32/99") == nullptr);
}

TEST_CASE("ids of the version before lead to a rung that there is", "[gemm]") {
  std::istringstream ids(
      "fp32/20_async_multistage fp32/21_wide_thread_tile fp32/23_engine_fed fp32/24_thread_fed "
      "fp32/25_equal_shares fp64/05_copy_engine fp32/27_small_products fp64/07_stream_k "
      "fp64/09_small_products tf32/01_wgmma fp16/16_small_products bf16/16_small_products "
      "fp32/01_naive fp32/03_shuffle_broadcast fp32/06_two_outputs fp32/13_swizzled "
      "fp32/18_registers_buffered fp32/19_warp_tile fp16/01_simt fp16/03_wmma bf16/05_multistage "
      "fp16/06_wgmma bf16/11_overlapped_epilogue fp16/13_all_layouts bf16/14_large_clusters");
  for (std::string id; ids >> id;) {
    CAPTURE(id);
    CHECK(find_rung(id) == nullptr);
    const Rung* now = find_rung(current_id(id));
    REQUIRE(now != nullptr);
    const Request request = read_request({{"rung", id}});
    CHECK(request.rungs == std::vector{now->id()});
    REQUIRE(request.notes.size() == 1);
    CHECK_THAT(request.notes[0], contains(id + " is " + now->id() + " now"));
  }
  for (const char* id : {"fp32/row_major/01_naive", "fp32/99_padded", "int8/07_wgmma",
                         "fp32/row_major/42_padded", "fp16/02_", ""})
    CHECK(current_id(id).empty());
  CHECK(read_request({{"rung", std::string("fp32/row_major/01_naive")}}).notes.empty());
}

// In the rungs' own view, whose rows are BLAS's columns. Tiles are the contenders', and a shape
// whose kernel is that of the shape before it is left out.
TEST_CASE("the GPUs that run a rung, and its tiles by shape, are those that were looked at",
          "[gemm]") {
  std::string all;
  for (const ClassTraits& row : all_classes()) {
    for (const Rung* rung : rungs_of(row.of)) {
      all += rung->id() + " on";
      for (const int capability : {75, 80, 86, 89, 90, 100, 120})
        if (runs_on(*rung, capability / 10, capability % 10)) all += fmt::format(" {}", capability);
      std::string last;
      for (const auto& [m, n, k] : {std::tuple{4096, 4096, 4096},
                                    {4096, 3088, 4096},
                                    {2048, 2048, 8192},
                                    {8192, 128, 8192},
                                    {100, 8192, 8192},
                                    {64, 8192, 8192},
                                    {8192, 16, 8192}}) {
        const RungKernel kernel = rung->plan(make_problem(row.of, m, n, k), 132).kernel;
        CHECK(kernel.function != nullptr);
        const std::string found =
            fmt::format("{} x {}, {} parts, clusters of {} x {}, {} threads, {} bytes",
                        kernel.tile_m, kernel.tile_n, kernel.parts, kernel.cluster_m,
                        kernel.cluster_n, kernel.threads, kernel.dynamic_shared_bytes);
        if (rung->contender && found != last)
          all += fmt::format("\n  {} x {} x {}: {}", m, n, k, found);
        last = found;
        // A block has 64 KiB on Turing, 99 KiB on the smaller chips since.
        if (row.of == Class::fp16 && rung->capability < 90)
          CHECK(kernel.dynamic_shared_bytes <= (rung->capability == 75 ? 64 : 99) * 1024);
      }
      all += "\n";
    }
  }
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/rungs.txt", all);
}

TEST_CASE("an 8-bit rung that promotes its sums says so in its name", "[gemm]") {
  // By which conclusions, that see a document alone, tell which library it was held against.
  for (const Rung* rung : rungs_of(Class::fp8)) {
    CAPTURE(rung->id());
    Entry entry;
    entry.axes = {{"type", "fp8"}, {"rung", rung->id().substr(rung->id().find('/') + 1)}};
    CHECK(sums_of(entry) == (rung->promoted ? "promoted sums" : "fast sums"));
  }
}

// Hopper's counters are held against recordings (gemm_cases_test.cpp).
TEST_CASE("Turing multiplies half as deep at once", "[gemm]") {
  const Problem p = make_problem(Class::fp16, 512, 256, 64);
  double tensor_instructions = 0;
  for (const CounterModel& m : find_rung("fp16/03_mma_sync")->counters(p, 75))
    if (std::string_view(m.role) == "tensor_instructions") tensor_instructions = m.value;
  CHECK(tensor_instructions == p.flops() / 2 / (16 * 8 * 8));
}

TEST_CASE("the fastest few algorithms are tried again, others and failed ones are not", "[gemm]") {
  using Times = std::vector<double>;
  using Indices = std::vector<std::size_t>;
  constexpr double failed = std::numeric_limits<double>::infinity();
  CHECK(finalists({}).empty());
  CHECK(finalists(Times{failed, failed}).empty());
  CHECK(finalists(Times{1.0, failed, 1.49, 1.51, 5.0}) == Indices{0, 2});
  CHECK(finalists(Times{3.0, 1.1, 1.0}) == Indices{2, 1});
  CHECK(finalists(Times{7e-6, 5e-6, 15e-6}) == Indices{1, 0});
  // Among many that are equally fast, the ones that the heuristic names first.
  CHECK(finalists(Times(20, 1.0)) == Indices{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(finalists(Times{1.4, 1.3, 1.2, 1.1, 1.0, 1.1, 1.2, 1.3, 1.4, 1.0}) ==
        Indices{4, 9, 3, 5, 2, 6, 1, 7});
}

TEST_CASE("an algorithm is chosen for each product and kind of sums", "[gemm]") {
  const Problem p = make_problem(Class::fp8, 64, 64, 64, Transpose::yes);
  Problem other = p;
  other.ldc = 80;
  CHECK(choice_key(p, true) != choice_key(p, false));
  CHECK(choice_key(p, true) != choice_key(other, true));
}

TEST_CASE("a kernel's name is shown without what a reader does not need", "[gemm]") {
  // The namespaces that all of the ladder's have.
  const std::string streamed = "_ZN6fathom4gemm16streamed_productINS0_14StreamedKernelIiLi3EEEEEvi";
  CHECK(readable_name(streamed) == "streamed_product<StreamedKernel<int, 3> >");
  CHECK(readable_name("ampere_sgemm_128x128_nn") == "ampere_sgemm_128x128_nn");
  CHECK(readable_name("_Z4copyILi4EEvPKfPf") == "copy<4>");
  CHECK(readable_name("_ZN12_GLOBAL__N_13addEPf") == "add");
}
