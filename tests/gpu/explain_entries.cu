#include <cstdint>
#include <memory>
#include <vector>

#include "gemm/bench/cases.h"
#include "gemm/bench/rung.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "harness/probe.h"
#include "probes/bank_conflicts/kernels.h"
#include "probes/device/launch.h"
#include "tests/gpu/explain_kernels.h"

namespace fathom::test {
namespace {

__global__ void explain_marker() {}

void for_each_lesson(Context& context, const DeviceFacts& facts, const Entry& entry) {
  using namespace gemm;
  const auto memory = std::make_shared<RunMemory>();
  for (const Class of : {Class::fp32, Class::fp32_3xtf32, Class::fp64, Class::fp16, Class::bf16,
                         Class::tf32, Class::fp8, Class::int8}) {
    const bool along_k = of == Class::tf32 || of == Class::fp8 || of == Class::int8;
    const auto transa = along_k ? Transpose::yes : Transpose::no;
    for (const Rung& lesson : lessons_of(of)) {
      if (!runs_on(lesson, facts.major, facts.minor)) continue;
      for (const Problem& problem :
           {make_problem(of, 256, 256, 128, transa), make_problem(of, 129, 127, 40, transa)}) {
        const Operands operands(context, memory, problem, "explain", lesson.promoted);
        const RungPlan plan = lesson.plan(problem, facts.sms);
        Workspace workspace{nullptr, plan.workspace_bytes, facts.sms};
        if (workspace.bytes != 0)
          workspace.data = context.buffers().output("workspace", workspace.bytes).data;
        operands.reset_c();
        entry(lesson.id() + " of " + problem.describe(),
              [&] { plan.launch(operands.arguments(), workspace, context.stream()); });
      }
    }
  }
}

void for_each_pattern(Context& context, const Entry& entry) {
  using namespace bank_conflicts;
  const Buffer offsets = context.buffers().output("offsets", 32 * sizeof(std::uint32_t)),
               clocks = context.buffers().output("clocks", warps_per_block * 2 * sizeof(long long)),
               words = context.buffers().output("words", region_bytes);
  for (const auto operation : {models::Access::load, models::Access::store}) {
    for (const int bytes : {4, 8, 16}) {
      for (const auto& pattern : patterns(operation, bytes)) {
        const auto& address = pattern.access.address;
        const std::vector<std::uint32_t> lanes(address.begin(), address.end());
        // In the stream of the launches, which waits for no cudaMemcpy beside it.
        FATHOM_CUDA(cudaMemcpyAsync(offsets.data, lanes.data(), offsets.bytes,
                                    cudaMemcpyHostToDevice, context.stream()));
        const Run run{offsets.as<const std::uint32_t>(), pattern.access.active_mask, 4,
                      clocks.as<long long>(), words.as<std::uint32_t>()};
        const bool loads = operation == models::Access::load;
        entry(pattern.name + (loads ? ", loads of " : ", stores of ") + std::to_string(bytes), [&] {
          launch(kernel_of(operation, bytes), {1, threads_per_block}, context.stream(), run);
        });
      }
    }
  }
}

}  // namespace

void for_each_found(const Entry& entry) {
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  Context context{facts, stream.get(), 1};
  for_each_lesson(context, facts, entry);
  for_each_pattern(context, entry);
}

void launch_marker(int number) { explain_marker<<<static_cast<unsigned>(number) + 1, 1>>>(); }

}  // namespace fathom::test
