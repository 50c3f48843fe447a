// The warp stages of a sum as the probe times them, on two SMs.

#include "harness/probe.h"
#include "probes/warp_reduce/warp_stage_kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;

TEST_CASE("each way to add up a warp leaves the lanes as it must",
          "[gpu][warp_reduce][sanitized]") {
  test::Gpu gpu;
  DeviceFacts two_sms = gpu.facts;
  two_sms.sms = 2;
  Context context(two_sms, gpu.stream.get(), 1);
  for (const Case& stage : warp_reduce::warp_stage_cases(two_sms)) {
    CAPTURE(stage.name);
    const Workload workload = stage.prepare(context);
    workload.poison();
    CHECK(workload.verify());  // not launched yet
    workload.launch();
    CHECK(workload.verify().value_or("") == "");
    CHECK(workload.read_sample() > 0);
    CHECK(context.buffers().guards_intact().value_or("") == "");
  }
}
