// One product launched again and again: every time the same, bit by bit. A race between those who
// fill a ring of stages and those who read it, or between blocks that add up each other's sums, is
// lost once in many launches, and by so little that a tolerance may let it pass.

#include "gemm/bench/rung.h"
#include "gemm/bench/shapes.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

constexpr int launches = 150;

void check_same(test::RungBench& bench, const Problem& problem, const RungPlan& plan) {
  CAPTURE(problem.describe());
  const Operands operands(bench.context, bench.memory, problem, "repeated");
  const Arguments& arguments = operands.arguments();
  const Workspace workspace = bench.workspace(plan.workspace_bytes, bench.facts.sms);
  const std::size_t bytes = problem.ldc * problem.n * element_bytes(traits(problem.of).output);
  const Buffer first = bench.buffers.output("first", bytes);
  int different = 0;
  for (int i = 0; i < launches; ++i) {
    operands.reset_c();
    // Bytes that were never written would all be the same, every time.
    if (i == 1)
      CHECK(count_different_bytes(first.data, arguments.c, bytes, bench.stream.get()) > bytes / 2);
    plan.launch(arguments, workspace, bench.stream.get());
    if (i == 0) {
      FATHOM_CUDA(cudaMemcpyAsync(first.data, arguments.c, bytes, cudaMemcpyDeviceToDevice,
                                  bench.stream.get()));
    } else if (count_different_bytes(first.data, arguments.c, bytes, bench.stream.get()) != 0) {
      ++different;
    }
  }
  CHECK(different == 0);
}

/// Products with many stages: of many tiles in every layout, and of few, that blocks share along k.
std::vector<Problem> products_of(Class of) {
  std::vector<Problem> all;
  for (const Shape& shape : {Shape{4096, 4096, 4096}, {128, 8192, 8192}, {16, 8192, 8192}}) {
    all.push_back(contested_problem(of, shape));
    for (const Problem& other : other_layouts(all.back())) all.push_back(other);
  }
  return all;
}

}  // namespace

TEST_CASE("a contender's product is the same every time", "[gpu][gemm]") {
  if (test::under_sanitizer()) SKIP("no race is lost where every access is slow");
  test::RungBench bench;
  for (const Rung& rung : all_rungs()) {
    if (!rung.contender || !bench.runs(rung)) continue;
    CAPTURE(rung.id());
    for (const Problem& problem : products_of(rung.of))
      check_same(bench, problem, rung.plan(problem, bench.facts.sms));
  }
}
