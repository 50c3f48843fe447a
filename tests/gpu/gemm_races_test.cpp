// Launches that may begin before the one before them has ended (programmatic dependent launch), one
// behind the other on what that one writes: C of one is an operand of the next, and C of several.
//
// One product launched again and again: every time the same, bit by bit. A race between those who
// fill a ring of stages and those who read it, or between blocks that add up each other's sums, is
// lost once in many launches, and by so little that a tolerance may let it pass.

#include "gemm/bench/rung.h"
#include "gemm/bench/shapes.h"
#include "tests/gpu/gemm_rung_bench.h"
#include "tests/gpu/launched_kernels.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

constexpr std::int64_t skinny = 16;

/// A chain of launches of a rung on squares of `size` and on 16 rows or columns of them: once with
/// a wait after each and, if any of them may begin early, again and again with one at the end.
/// Returns whether any may.
bool check_chain(test::RungBench& bench, const Rung& rung, std::int64_t size) {
  const ClassTraits& t = traits(rung.of);
  const Operands inputs(bench.context, bench.memory, contested_problem(rung.of, {size, size, size}),
                        "chain");
  const void *const a = inputs.arguments().a, *const b = inputs.arguments().b;
  std::vector<Buffer> results[2];  // of the launches that wait, and of those that do not
  for (const auto& [role, elements] : {std::pair{"first", size * size},
                                       {"second", size * size},
                                       {"rows", skinny * size},
                                       {"columns", skinny * size}}) {
    const auto bytes = static_cast<std::size_t>(elements * element_bytes(t.output));
    for (int i = 0; i < 2; ++i)
      results[i].push_back(bench.buffers.output(role + std::to_string(i) + " of " + t.name, bytes));
  }
  // Integers take whole scalars; others keep the scale of their operands.
  const bool whole = t.scalar == Element::s32;
  const double alpha = whole ? 1 : 1 / std::sqrt(static_cast<double>(size)), half = whole ? 1 : 0.5;
  const auto products = [&](const std::vector<Buffer>& c) {
    std::vector<Arguments> all;
    const auto add = [&](std::int64_t m, std::int64_t n, const void* of_a, const void* of_b,
                         const Buffer& to, double beta) {
      Problem p = contested_problem(rung.of, {m, n, size});
      p.alpha = alpha, p.beta = beta;
      all.push_back({p, of_a, of_b, to.data});
    };
    // Whose C has another type than A is no operand.
    const bool operand = t.input == t.output;
    const auto or_input = [&](const Buffer& of, const void* input) {
      return operand ? of.data : input;
    };
    const Buffer &first = c[0], &second = c[1], &rows = c[2], &columns = c[3];
    add(size, size, a, b, first, 0);
    add(size, size, or_input(first, a), b, second, 0);
    for (int i = 0; i < 3; ++i) add(size, size, or_input(first, a), b, second, half);
    // The large operand is what the launch before wrote, then the small one.
    add(skinny, size, a, or_input(second, b), rows, 0);
    add(size, skinny, or_input(second, a), or_input(rows, b), columns, 0);
    for (int i = 0; i < 3; ++i) {
      add(skinny, size, or_input(columns, a), b, rows, half);
      add(size, skinny, a, or_input(rows, b), columns, half);
    }
    // And large again, before the skinny ones have ended.
    add(size, size, or_input(second, a), b, first, half);
    return all;
  };
  const auto plan_of = [&](const Arguments& product) {
    return rung.plan(product.problem, bench.facts.sms);
  };
  std::size_t scratch = 0;
  for (const Arguments& product : products(results[0]))
    scratch = std::max(scratch, plan_of(product).workspace_bytes);
  const Workspace workspace = bench.workspace(scratch, bench.facts.sms);
  const auto run = [&](const std::vector<Buffer>& c, bool waits) {
    for (const Buffer& buffer : c) bench.buffers.poison(buffer);
    bench.wait();
    for (const Arguments& product : products(c)) {
      plan_of(product).launch(product, workspace, bench.stream.get());
      if (waits) bench.wait();
    }
    bench.wait();
  };
  const int before = test::launches_that_may_begin_early();
  run(results[0], true);
  if (test::launches_that_may_begin_early() == before) return false;
  for (int repetition = 0; repetition < (test::under_sanitizer() ? 1 : 5); ++repetition) {
    CAPTURE(repetition);
    run(results[1], false);
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      CAPTURE(i);
      const Buffer& waited = results[0][i];
      CHECK(count_different_bytes(waited.data, results[1][i].data, waited.bytes,
                                  bench.stream.get()) == 0);
      // And numbers: not what poisons them.
      const auto bytes = copy_to_host<unsigned char>(waited, bench.stream.get());
      CHECK_FALSE(std::all_of(bytes.begin(), bytes.begin() + element_bytes(t.output),
                              [](unsigned char byte) { return byte == 0xFF; }));
    }
    bench.check_guards();
  }
  return true;
}

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

TEST_CASE("launches that begin early read what the ones before them write",
          "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  if (bench.facts.major != 9) SKIP("only rungs for sm_90a launch so");
  std::set<std::string> early;
  // The largest for large clusters, which have to have more than a tile each.
  const std::vector<std::int64_t> sizes = test::under_sanitizer()
                                              ? std::vector<std::int64_t>{64}
                                              : std::vector<std::int64_t>{256, 1024, 2560};
  for (const std::int64_t size : sizes) {
    for (const Rung& rung : all_rungs()) {
      // No rung for every GPU launches so.
      if (!rung.exact_capability || !bench.runs(rung)) continue;
      CAPTURE(rung.id(), size);
      if (check_chain(bench, rung, size)) early.insert(rung.id());
    }
  }
  if (test::under_sanitizer()) return;  // some take other ways at that size
  for (const char* id : {"fp16/15_deferred_stores", "bf16/15_deferred_stores", "fp8/01_promoted",
                         "fp8/02_fast_accumulation", "int8/01_wgmma"}) {
    CAPTURE(id);
    CHECK(early.contains(id));
  }
}

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
