#pragma once

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <memory>

#include "gemm/bench/rung.h"
#include "gemm/bench/verification.h"
#include "harness/probe.h"
#include "tests/gpu/gpu_fixture.h"

namespace fathom::test {

/// Runs rungs on small products and holds them against the reference.
struct RungBench : Gpu {
  Context context{facts, stream.get(), 1};
  std::shared_ptr<gemm::ReferenceStore> references = std::make_shared<gemm::ReferenceStore>();

  /// `sms`: for which the rung plans; 0: those of the GPU. Returns how far the last launch was off.
  gemm::Accuracy check(const gemm::Rung& rung, const gemm::Problem& problem, int sms = 0) {
    if (sms == 0) sms = facts.sms;
    CAPTURE(rung.id(), problem.describe(), sms);
    REQUIRE_FALSE(invalid(problem).has_value());
    const gemm::Operands operands(context, references, problem, "test", rung.promoted);
    const std::size_t scratch = rung.workspace_bytes(problem, sms);
    gemm::Workspace workspace{nullptr, scratch, sms};
    if (scratch != 0) {
      const Buffer buffer = context.buffers().output("workspace", scratch);
      context.buffers().poison(buffer);
      workspace.data = buffer.data;
    }
    gemm::Accuracy accuracy;
    // The second finds a workspace that was used; where every access is instrumented, if there is
    // one.
    const int launches = under_sanitizer() && scratch == 0 ? 1 : 2;
    for (int launch = 0; launch < launches; ++launch) {
      operands.reset_c();
      rung.launch(operands.arguments(), workspace, stream.get());
      FATHOM_CUDA(cudaStreamSynchronize(stream.get()));
      const auto wrong = operands.verify(accuracy);
      CAPTURE(wrong.value_or("right"));
      CHECK_FALSE(wrong.has_value());
    }
    const auto outside = context.buffers().guards_intact();
    CAPTURE(outside.value_or("intact"));
    CHECK_FALSE(outside.has_value());
    return accuracy;
  }
};

}  // namespace fathom::test
