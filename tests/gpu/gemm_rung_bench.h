#pragma once

#include "gemm/bench/cases.h"
#include "gemm/bench/rung.h"
#include "gemm/bench/shapes.h"
#include "tests/gpu/gpu_fixture.h"

namespace fathom::test {

inline constexpr gemm::Transpose both[] = {gemm::Transpose::no, gemm::Transpose::yes};

/// A product in all transpositions.
inline std::vector<gemm::Problem> layouts(gemm::Class of, std::int64_t m, std::int64_t n,
                                          std::int64_t k) {
  std::vector<gemm::Problem> all;
  for (const gemm::Transpose a : both) {
    for (const gemm::Transpose b : both) all.push_back(gemm::make_problem(of, m, n, k, a, b));
  }
  return all;
}

/// A problem that only some rungs are for: one that a rung's own kernel takes as it is, and one for
/// contenders' narrow tiles.
struct Task {
  gemm::Problem problem;
  bool own_path = false, contenders = false;
  bool is_for(const gemm::Rung& rung) const {
    return (!own_path || rung.takes_own_path(problem)) && (!contenders || rung.contender);
  }
};

/// Runs rungs on small products and holds them against the reference.
struct RungBench : Pool {
  std::shared_ptr<gemm::RunMemory> memory = std::make_shared<gemm::RunMemory>();

  bool runs(const gemm::Rung& rung) const { return gemm::runs_on(rung, facts.major, facts.minor); }

  gemm::Workspace workspace(std::size_t bytes, int sms) {
    if (bytes == 0) return {nullptr, 0, sms};
    const Buffer scratch = poisoned("workspace", bytes);
    return {scratch.data, bytes, sms};
  }

  /// Launches a product several times, each on the same C, and the second finds a workspace that
  /// was used. Returns how far the last one was off.
  template <class Launch>
  gemm::Accuracy check_product(const gemm::Problem& problem, const gemm::Workspace& workspace,
                               int launches, Launch&& launch, bool promoted = false) {
    CAPTURE(problem.describe());
    REQUIRE_FALSE(invalid(problem).has_value());
    gemm::Operands operands(context, memory, problem, "test", promoted);
    for (int i = 0; i < launches; ++i) {
      operands.reset_c();
      launch(operands.arguments(), workspace, stream.get());
      wait();
      const auto wrong = operands.verify();
      CAPTURE(wrong.value_or("right"));
      CHECK_FALSE(wrong.has_value());
    }
    check_guards();
    return operands.accuracy();
  }

  /// With all of the plan's variants. `sms`: for which the rung plans; 0: those of the GPU.
  gemm::Accuracy check(const gemm::Rung& rung, const gemm::Problem& problem, int sms = 0) {
    if (sms == 0) sms = facts.sms;
    CAPTURE(rung.id(), sms);
    const gemm::RungPlan plan = rung.plan(problem, sms);
    // Where every access is instrumented, once if there is no workspace.
    const int launches = under_sanitizer() && plan.workspace_bytes == 0 ? 1 : 2;
    for (const gemm::RungPlan& variant : plan.variants) {
      CAPTURE(variant.name);
      check_product(problem, {}, launches, variant.launch);
    }
    return check_product(problem, workspace(plan.workspace_bytes, sms), launches, plan.launch,
                         rung.promoted);
  }

  /// Those of the rungs that run here and that the task is for. Task by task: its reference serves
  /// all rungs.
  void check_all(const std::vector<const gemm::Rung*>& rungs, const std::vector<Task>& tasks) {
    for (const Task& task : tasks) {
      for (const gemm::Rung* rung : rungs)
        if (task.is_for(*rung) && runs(*rung)) check(*rung, task.problem);
    }
  }
};

}  // namespace fathom::test
