// What a rung's workload tells of itself, and that autotuning takes no wrong variant.

#include "gemm/bench/rung_workload.h"
#include "results/error.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

Workload workload_of(test::RungBench& bench, const Rung& rung, std::int64_t size) {
  return rung_workload(bench.context, rung, make_problem(rung.of, size, size, size),
                       bench.memory);
}

}  // namespace

TEST_CASE("a variant whose product is wrong is never chosen: tuning ends there", "[gpu][gemm]") {
  test::RungBench bench;
  Rung rung = *find_rung("fp32/row_major/10_autotuned");
  rung.plan = [plan = rung.plan](const Problem& p, int sms) {
    RungPlan more = plan(p, sms);
    more.variants.push_back(RungPlan(more.variants.front()));
    more.variants.back().name = "does nothing";
    more.variants.back().launch = [](const Arguments&, const Workspace&, cudaStream_t) {};
    return more;
  };
  try {
    workload_of(bench, rung, 256);
    FAIL("the variant that does nothing was not noticed");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::check_failed);
    CHECK(std::string(error.what()).find("does nothing") != std::string::npos);
  }
}

TEST_CASE("a workload tells what the kernel takes that ran", "[gpu][gemm]") {
  test::RungBench bench;
  const auto told = [&](const Rung& rung, std::int64_t size) {
    const Workload workload = workload_of(bench, rung, size);
    workload.poison();
    workload.launch();
    bench.wait();
    CHECK_FALSE(workload.verify().has_value());
    auto extras = workload.extras();
    const auto notes = workload.notes();
    CAPTURE(notes.at("kernel"));
    CHECK(extras.at("registers") > 0);
    CHECK(extras.at("resident_warps") > 0);
    CHECK((extras.at("theoretical_occupancy") > 0 && extras.at("theoretical_occupancy") <= 100));
    CHECK(notes.contains("variant") == (rung.id() == "fp32/row_major/10_autotuned"));
    return extras;
  };
  told(*find_rung("fp32/row_major/10_autotuned"), 512);
  const Rung& whole = *find_rung("fp32/row_major/09_vectorised");
  const auto of_whole = told(whole, 256);
  CHECK((of_whole.at("tile_efficiency") > 0 && of_whole.at("tile_efficiency") <= 1));
  CHECK_FALSE(told(whole, 255).contains("tile_efficiency"));  // not by its own tile
  const Rung& top = *find_rung("fp32/26_sliced_depth");
  if (!bench.runs(top)) return;
  const auto of_narrow = told(top, 16), of_large = told(top, 2048);
  CHECK(of_narrow.at("shared_bytes") < of_large.at("shared_bytes"));
  CHECK_FALSE(of_narrow.contains("waves"));
  CHECK(of_large.contains("waves"));
}
