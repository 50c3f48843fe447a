// Autotuning where it is done: on the GPU.

#include "gemm/bench/autotune.h"
#include "gemm/bench/launched_kernels.h"
#include "gemm/bench/rung_workload.h"
#include "results/error.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("autotuning verifies every variant of every rung that has some, and takes one of them",
          "[gpu][gemm]") {
  test::RungBench bench;
  int tuned = 0;
  for (const Rung& rung : all_rungs()) {
    if (!bench.runs(rung)) continue;
    const Problem problem = make_problem(rung.of, 512, 256, 1024);
    const auto variants = rung.variants(problem);
    if (variants.empty()) continue;
    CAPTURE(rung.id(), variants.size());
    ++tuned;
    const Operands operands(bench.context, bench.references, problem, "test");
    CHECK(autotune(bench.context, rung, variants, operands, {}) < variants.size());
    bench.check_guards();
  }
  CHECK(tuned > 0);
}

TEST_CASE("a variant whose product is wrong is never chosen: tuning ends there", "[gpu][gemm]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("fp32/row_major/10_autotuned");
  const Problem problem = make_problem(Class::fp32, 256, 256, 64);
  auto variants = rung.variants(problem);
  REQUIRE_FALSE(variants.empty());
  RungPlan idle = variants.front();
  idle.name = "does nothing";
  idle.launch = [](const Arguments&, const Workspace&, cudaStream_t) {};
  variants.push_back(idle);
  const Operands operands(bench.context, bench.references, problem, "test");
  try {
    autotune(bench.context, rung, variants, operands, {});
    FAIL("the variant that does nothing was not noticed");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::check_failed);
    CHECK(std::string(error.what()).find("does nothing") != std::string::npos);
  }
}

TEST_CASE("a rung's workload says what ran, and its kernels have names", "[gpu][gemm]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("fp32/row_major/10_autotuned");
  const Workload workload =
      rung_workload(bench.context, rung, make_problem(Class::fp32, 512, 512, 512), bench.references,
                    std::make_shared<TunedChoices>());
  workload.poison();
  workload.launch();
  FATHOM_CUDA(cudaStreamSynchronize(bench.stream.get()));
  CHECK_FALSE(workload.verify().has_value());
  CHECK(workload.notes().at("variant").find(", tuned") != std::string::npos);
  const auto extras = workload.extras();
  CHECK(extras.at("registers") > 0);
  CHECK((extras.at("tile_efficiency") > 0 && extras.at("tile_efficiency") <= 1));
  CHECK((extras.at("theoretical_occupancy") > 0 && extras.at("theoretical_occupancy") <= 100));
  CHECK(extras.at("tuned") == 1);
  const std::string names = kernel_names(workload.launch, bench.stream.get());
  CAPTURE(names);
  CHECK(names.find("autotuned_product") != std::string::npos);
}
