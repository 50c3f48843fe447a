// Autotuning where it is done: on the GPU.

#include <algorithm>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "gemm/bench/autotune.h"
#include "gemm/bench/launched_kernels.h"
#include "gemm/bench/rung_workload.h"
#include "gemm/bench/variant.h"
#include "results/error.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

struct Bench : test::RungBench {
  Workspace workspace_for(const std::vector<Variant>& variants) {
    std::size_t bytes = 16;
    for (const Variant& variant : variants) bytes = std::max(bytes, variant.workspace_bytes);
    return workspace(bytes, facts.sms);
  }
};

}  // namespace

TEST_CASE("autotuning verifies every variant of every rung that has some, and takes one of them",
          "[gpu][gemm]") {
  Bench bench;
  int tuned = 0;
  for (const Rung& rung : all_rungs()) {
    if (!bench.runs(rung)) continue;
    const Problem problem = make_problem(rung.of, 520, 300, 1100);
    const auto variants = variants_of(rung, problem, bench.facts.sms);
    if (variants.empty()) continue;
    CAPTURE(rung.id(), variants.size());
    ++tuned;
    const Operands operands(bench.context, bench.references, problem, "test");
    const TunedChoice choice =
        autotune(bench.context, rung, variants, operands, bench.workspace_for(variants));
    CHECK(std::ranges::find(variants, choice.variant, &Variant::name) != variants.end());
    CHECK(choice.default_variant == variants.front().name);
    CHECK(choice.tried == static_cast<int>(variants.size()));
    CHECK((choice.seconds > 0 && choice.seconds <= choice.default_seconds));
    bench.check_guards();
  }
  CHECK((tuned > 0 || bench.facts.major < 8));
}

TEST_CASE("a variant whose product is wrong is never chosen: tuning ends there", "[gpu][gemm]") {
  Bench bench;
  if (bench.facts.major < 8) SKIP("asynchronous copies need sm_80");
  const Rung& rung = *find_rung("fp32/22_planned_tiles");
  const Problem problem = make_problem(Class::fp32, 260, 260, 64);
  auto variants = variants_of(rung, problem, bench.facts.sms);
  REQUIRE_FALSE(variants.empty());
  Variant idle = variants.front();
  idle.name = "does nothing";
  idle.launch = [](const Arguments&, const Workspace&, cudaStream_t) {};
  variants.push_back(idle);
  const Operands operands(bench.context, bench.references, problem, "test");
  const Workspace workspace = bench.workspace_for(variants);
  try {
    autotune(bench.context, rung, variants, operands, workspace);
    FAIL("the variant that does nothing was not noticed");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::check_failed);
    CHECK(std::string(error.what()).find("does nothing") != std::string::npos);
  }
}

TEST_CASE("a rung's workload says what ran, and its kernels have names", "[gpu][gemm]") {
  Bench bench;
  if (bench.facts.major < 8) SKIP("asynchronous copies need sm_80");
  const Rung& rung = *find_rung("fp32/22_planned_tiles");
  const Workload workload =
      rung_workload(bench.context, rung, make_problem(Class::fp32, 512, 512, 512), bench.references,
                    std::make_shared<Autotuner>());
  workload.poison();
  workload.launch();
  FATHOM_CUDA(cudaStreamSynchronize(bench.stream.get()));
  CHECK_FALSE(workload.verify().has_value());
  CHECK(workload.notes().at("variant").find(" part") != std::string::npos);
  const auto extras = workload.extras();
  CHECK(extras.at("registers") > 0);
  CHECK((extras.at("tile_efficiency") > 0 && extras.at("tile_efficiency") <= 1));
  CHECK((extras.at("theoretical_occupancy") > 0 && extras.at("theoretical_occupancy") <= 100));
  CHECK(extras.at("tuned") == 0);
  const std::string names = kernel_names(workload.launch, bench.stream.get());
  CAPTURE(names);
  CHECK(names.find("pipelined_product") != std::string::npos);
}
