// Every kernel of the launch probe, and that dependent ones run in their order.

#include "harness/graphs.h"
#include "probes/launch_overhead/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::launch_overhead;

namespace {

constexpr int links = 6, clocks = 20'000;

struct Stamps : test::Pool {
  Buffer stamps = buffers.output("stamps", 2 * links * sizeof(long long));

  /// What `run` leaves in the first `count` stamps: one after the other.
  template <class Run>
  void check(int count, Run&& run) {
    buffers.poison(stamps);
    run(stamps.as<long long>());
    long long before = 0;
    for (const long long stamp : copy_to_host<long long>(stamps.data, count, stream.get())) {
      CAPTURE(before);
      CHECK(stamp >= before);
      before = stamp;
    }
    CHECK(before > 0);
    check_guards();
  }
};

}  // namespace

TEST_CASE("a kernel begins its work when the one it depends on is done, early launch or not",
          "[gpu][launch_overhead][sanitized]") {
  Stamps gpu;
  for (const bool programmatic : {false, true}) {
    if (programmatic && gpu.facts.major < 9) continue;
    CAPTURE(programmatic);
    const auto launch_all = [&](long long* stamps) {
      for (int i = 0; i < links; ++i)
        launch_link({stamps, i, clocks, programmatic && i > 0}, gpu.stream.get());
    };
    gpu.check(2 * links, launch_all);
    gpu.check(2 * links, [&](long long* stamps) {
      const GraphExec graph = capture_graph([&] { launch_all(stamps); }, gpu.stream.get());
      FATHOM_CUDA(cudaGraphLaunch(graph.get(), gpu.stream.get()));
      gpu.wait();
    });
  }
}

TEST_CASE("a graph's last stamp comes after its first, with all kernels between",
          "[gpu][launch_overhead][sanitized]") {
  Stamps gpu;
  for (const Shape shape : {Shape::straight, Shape::fan_out}) {
    CAPTURE(static_cast<int>(shape));
    gpu.check(2, [&](long long* stamps) {
      const GraphExec graph = make_graph(shape, 20, stamps);
      FATHOM_CUDA(cudaGraphLaunch(graph.get(), gpu.stream.get()));
      gpu.wait();
    });
  }
  // By itself, not as a node of a graph.
  gpu.check(2, [&](long long* stamps) {
    launch_stamp(stamps, gpu.stream.get());
    launch_empty(3, 64, gpu.stream.get());
    launch_stamp(stamps + 1, gpu.stream.get());
  });
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
