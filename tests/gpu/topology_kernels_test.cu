#include "probes/device/launch.h"
#include "probes/topology/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::topology;

// The probe's own cases: probe_cases_test.cu.
TEST_CASE("an SM that is not there keeps nobody waiting for ever", "[gpu][topology]") {
  test::Pool gpu;
  const Buffer region = gpu.buffers.output("region", 64 * line_bytes);
  const Buffer buffer = gpu.poisoned("report", sizeof(LineReport));
  const LineTask task{{region.data, 1, 64 * line_bytes, 5},
                      3,
                      static_cast<std::uint32_t>(gpu.facts.sms) + 7,
                      buffer.as<LineReport>()};
  gpu.set(&task.report->taken, 0, sizeof(std::uint32_t));
  const int shared_bytes = static_cast<int>(gpu.facts.shared_bytes_per_block_max);
  const auto kernel = line_kernel(LineAccess::load);
  resident_blocks_with(kernel, latency_threads, shared_bytes);
  launch(kernel, {gpu.facts.sms, latency_threads, shared_bytes}, gpu.stream.get(), task, 0u);
  const auto report = gpu.read<LineReport>(buffer).front();
  CHECK(report.taken == 0);
  CHECK(report.sum == 0xFFFFFFFFu);
}
