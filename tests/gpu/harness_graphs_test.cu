#include "harness/cuda_handles.h"
#include "probes/launch_overhead/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::launch_overhead;

TEST_CASE("a capture that fails leaves the stream as it was", "[gpu][harness]") {
  test::Gpu gpu;
  CHECK_THROWS_AS(capture_graph(
                      [&] {
                        launch_empty(1, 1, gpu.stream.get());
                        throw std::runtime_error("on purpose");
                      },
                      gpu.stream.get()),
                  std::runtime_error);
  launch_empty(1, 1, gpu.stream.get());
  CHECK(cudaStreamSynchronize(gpu.stream.get()) == cudaSuccess);
}
