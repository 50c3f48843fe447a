// Every kernel of the launch probe, and that dependent ones run in their order.

#include "harness/cuda_handles.h"
#include "probes/launch_overhead/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::launch_overhead;

namespace {

constexpr int links = 6, clocks = 20'000;

struct Links : test::Pool {
  Buffer stamps = buffers.output("stamps", 2 * links * sizeof(long long));

  void launch_all(bool programmatic) {
    for (int i = 0; i < links; ++i) {
      launch_link({stamps.as<long long>(), i, clocks, programmatic && i > 0}, stream.get());
    }
  }

  void check() {
    const auto t = copy_to_host<long long>(stamps, stream.get());
    for (int i = 0; i < links; ++i) {
      CAPTURE(i, t[2 * i], t[2 * i + 1]);
      CHECK(t[2 * i] > 0);
      CHECK(t[2 * i + 1] > t[2 * i]);
      if (i > 0) CHECK(t[2 * i] >= t[2 * i - 1]);
    }
    check_guards();
  }
};

}  // namespace

TEST_CASE("a kernel begins its work when the one it depends on is done, early launch or not",
          "[gpu][launch_overhead][sanitized]") {
  Links chain;
  for (const bool programmatic : {false, true}) {
    if (programmatic && chain.facts.major < 9) continue;
    CAPTURE(programmatic);
    chain.buffers.poison(chain.stamps);
    chain.launch_all(programmatic);
    chain.check();

    const GraphExec graph =
        capture_graph([&] { chain.launch_all(programmatic); }, chain.stream.get());
    chain.buffers.poison(chain.stamps);
    FATHOM_CUDA(cudaGraphLaunch(graph.get(), chain.stream.get()));
    chain.check();
  }
}

TEST_CASE("a graph's last stamp comes after its first, with all kernels between",
          "[gpu][launch_overhead][sanitized]") {
  test::Pool gpu;
  const Buffer stamps = gpu.buffers.output("stamps", 2 * sizeof(long long));
  for (const Shape shape : {Shape::straight, Shape::fan_out}) {
    for (const int nodes : {1, 20}) {
      CAPTURE(static_cast<int>(shape), nodes);
      gpu.buffers.poison(stamps);
      const GraphExec graph = make_graph(shape, nodes, stamps.as<long long>());
      FATHOM_CUDA(cudaGraphLaunch(graph.get(), gpu.stream.get()));
      const auto t = gpu.read<long long>(stamps);
      CHECK(t[0] > 0);
      CHECK(t[1] > t[0]);
    }
  }
  // By itself, not as a node of a graph.
  gpu.buffers.poison(stamps);
  launch_stamp(stamps.as<long long>(), gpu.stream.get());
  launch_empty(3, 64, gpu.stream.get());
  launch_stamp(stamps.as<long long>() + 1, gpu.stream.get());
  const auto t = gpu.read<long long>(stamps);
  CHECK(t[0] > 0);
  CHECK(t[1] > t[0]);
}

TEST_CASE("kernels take each size of arguments, and the host sees the flag",
          "[gpu][launch_overhead][sanitized]") {
  test::Gpu gpu;
  for (const int bytes : argument_bytes) {
    CAPTURE(bytes);
    launch_with_arguments(bytes, gpu.stream.get());
    CHECK(cudaStreamSynchronize(gpu.stream.get()) == cudaSuccess);
  }
  CHECK_THROWS_AS(launch_with_arguments(12, gpu.stream.get()), std::invalid_argument);

  const PinnedMemory<int> flag = make_pinned_memory<int>(1);
  *flag = 0;
  launch_signal(flag.get(), 41, gpu.stream.get());
  gpu.wait();
  CHECK(*flag == 41);
}

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
