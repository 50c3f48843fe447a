#include "probes/instructions/workload.h"

#include <algorithm>

#include "probes/device/launch.h"

namespace fathom::instructions {

Plan throughput_plan(const DeviceFacts& device, const Instruction& instruction, double clocks) {
  const Kernels& kernels = find_kernels(instruction.op);
  const double rate = published_rate(instruction, device.major, device.minor)
                          ? throughput_bound(instruction, device.major, device.minor)->value
                          : instruction.usual_rate;
  const Shape& shape = kernels.throughput;
  const double clocks_per_iteration =
      shape.steps * shape.chains * kernels.throughput_warps * instruction.results / rate;
  const int iterations = std::max(4, static_cast<int>(clocks / clocks_per_iteration));
  return {instruction, kernels, Variant::throughput, device.sms, kernels.throughput_warps,
          iterations};
}

Workload prepare(Context& context, const Plan& plan,
                 std::function<double(const Plan&, const std::vector<long long>&)> read_clocks) {
  const Kernels& kernels = plan.kernels;
  const Shape shape = plan.shape();
  cudaStream_t stream = context.stream();
  BufferPool& buffers = context.buffers();
  std::vector<std::byte> starts(kernels.start_threads * shape.chains * kernels.state_bytes);
  std::vector<std::byte> operands(kernels.operands_bytes);
  kernels.fill(shape.chains, starts.data(), operands.data());
  const Buffer start_buffer = upload(context, "starts", starts);
  const Buffer operand_buffer = upload(context, "operands", operands);
  const std::size_t blocks = static_cast<std::size_t>(plan.blocks);
  const Buffer clocks =
      buffers.output("clocks", blocks * plan.warps * clocks_per_warp * sizeof(long long));
  // A warpgroup's products are written by the first one of each block alone.
  const int writing_warps = std::min(plan.warps, kernels.writing_warps);
  const Buffer out = buffers.output(
      "out", blocks * writing_warps * warp_lanes * shape.chains * 2 * kernels.state_bytes);
  Run run{start_buffer.data, operand_buffer.data, plan.iterations, clocks.as<long long>(),
          out.data};
  const auto launch_of = [=](const Run& run) {
    return [=] { launch(shape.kernel, {plan.blocks, plan.warps * warp_lanes}, stream, run); };
  };
  Workload workload =
      workload_of(context, {out, clocks}, launch_of(run), [=]() -> std::optional<std::string> {
        const auto bytes = copy_to_host<std::byte>(out, stream);
        const std::string wrong = kernels.check(plan.shape(), plan.iterations, bytes);
        return wrong.empty() ? std::nullopt : std::optional(wrong);
      });
  if (read_clocks)
    workload.read_sample = [=] {
      return read_clocks(plan, copy_to_host<long long>(clocks, stream));
    };
  if (kernels.randomise != nullptr) {
    kernels.randomise(operands.data());
    run.operands = upload(context, "random operands", operands).data;
    // What it writes goes elsewhere: nobody checks it.
    run.out = buffers.output("unchecked out", out.bytes).data;
    workload.load = launch_of(run);
  }
  return workload;
}

}  // namespace fathom::instructions
