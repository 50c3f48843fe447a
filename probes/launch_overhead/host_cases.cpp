#include <memory>

#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "harness/host_timer.h"
#include "probes/launch_overhead/cases.h"
#include "probes/launch_overhead/claims.h"
#include "probes/launch_overhead/kernels.h"

// What the host pays: calls on a stream that nothing else uses, by the host's clock.

namespace fathom::launch_overhead {
namespace {

/// Calls that make a sample: below the number of launches that the driver queues before it makes
/// the host wait, and far above the clock's resolution.
constexpr int batch = 64;
/// Round trips to the GPU that make a sample.
constexpr int round_trips = 16;
/// A GPU that has not answered by then has a fault.
constexpr double answer_limit_s = 2;

/// Makes the function that takes one sample: seconds of one call.
using MakeSampler = std::function<std::function<double()>(Context&)>;

Case host_case(const std::string& what, bool quick, MakeSampler make, Axes more = {}) {
  Case c = make_case("host", what, std::move(more), quick_if(quick));
  c.prepare = [make = std::move(make)](Context& context) {
    cudaStream_t stream = context.stream();
    Workload workload;
    // What the harness itself launches around the sample; the stream is idle when it takes it.
    workload.launch = [=] { launch_empty(1, 1, stream); };
    workload.read_sample = make(context);
    workload.read_sample();  // a kernel's first launch loads it, a graph's uploads it
    workload.sample_timer = host_timer_name;
    return workload;
  };
  return c;
}

/// Of a call that does not wait for the GPU; the stream is emptied after the clock has stopped.
template <class Call>
std::function<double()> batched(cudaStream_t stream, Call call) {
  return [=] {
    const double seconds = host_seconds([&] {
      for (int i = 0; i < batch; ++i) call();
    });
    FATHOM_CUDA(cudaStreamSynchronize(stream));
    return seconds / batch;
  };
}

/// Of a call at whose end the stream is empty.
template <class Call>
std::function<double()> round_trip(Call call) {
  return [=] {
    const double seconds = host_seconds([&] {
      for (int i = 0; i < round_trips; ++i) call();
    });
    return seconds / round_trips;
  };
}

void synchronize(cudaStream_t stream) { FATHOM_CUDA(cudaStreamSynchronize(stream)); }

/// A flag in pinned host memory that a kernel raises to ever new values.
class Flag {
 public:
  /// Launches the kernel and spins until its value is there.
  void launch_and_wait(cudaStream_t stream) {
    const int wanted = ++value_;
    const volatile int* seen = flag_.get();
    launch_signal(flag_.get(), wanted, stream);
    spin_until([=] { return *seen == wanted; }, answer_limit_s);
  }

 private:
  PinnedMemory<int> flag_ = [] {
    PinnedMemory<int> flag = make_pinned_memory<int>(1);
    *flag = 0;
    return flag;
  }();
  int value_ = 0;
};

/// The case of a call that takes the stream and does not wait for the GPU.
template <class Call>
Case call_case(const char* what, bool quick, Call call, Axes more = {}) {
  return host_case(
      what, quick,
      [=](Context& context) {
        return batched(
            context.stream(), [=, stream = context.stream()] { call(stream); });
      },
      std::move(more));
}

/// `rounds` of them, each timed by what `round` returns: seconds.
template <class Round>
std::function<double()> mean_of(Round round) {
  return [=] {
    double seconds = 0;
    for (int i = 0; i < round_trips; ++i) seconds += round();
    return seconds / round_trips;
  };
}

void add_launches(std::vector<Case>& cases) {
  cases.push_back(call_case(
      kernel_launch, true, [](cudaStream_t stream) { launch_empty(1, 1, stream); }));
  cases.push_back(host_case(
      launch_and_synchronize, true,
      [](Context& context) {
        return round_trip([stream = context.stream()] {
          launch_empty(1, 1, stream);
          synchronize(stream);
        });
      }));
  cases.push_back(host_case(
      launch_until_flag, true,
      [](Context& context) {
        return mean_of([stream = context.stream(), flag = std::make_shared<Flag>()] {
          const double seconds = host_seconds([&] { flag->launch_and_wait(stream); });
          synchronize(stream);
          return seconds;
        });
      }));
  cases.push_back(host_case(synchronize_after_flag, true, [](Context& context) {
    return mean_of([stream = context.stream(), flag = std::make_shared<Flag>()] {
      flag->launch_and_wait(stream);
      return host_seconds([&] { synchronize(stream); });
    });
  }));
  for (const int bytes : argument_bytes) {
    cases.push_back(call_case(
        launch_with_argument_bytes, bytes == 4096,
        [=](cudaStream_t stream) { launch_with_arguments(bytes, stream); },
        {{"arguments (B)", std::int64_t{bytes}}}));
  }
}

void add_waits(std::vector<Case>& cases) {
  cases.push_back(call_case(
      synchronize_idle, true, [](cudaStream_t stream) { synchronize(stream); }));
  cases.push_back(call_case(
      query_idle, false, [](cudaStream_t stream) { FATHOM_CUDA(cudaStreamQuery(stream)); }));
  cases.push_back(host_case(
      record_event, true,
      [](Context& context) {
        return batched(
            context.stream(),
            [stream = context.stream(), event = std::make_shared<Event>(make_event())] {
              FATHOM_CUDA(cudaEventRecord(event->get(), stream));
            });
      }));
  cases.push_back(host_case(query_event, true, [](Context& context) {
    const auto event = std::make_shared<Event>(make_event());
    FATHOM_CUDA(cudaEventRecord(event->get(), context.stream()));
    synchronize(context.stream());
    return batched(context.stream(), [=] { FATHOM_CUDA(cudaEventQuery(event->get())); });
  }));
}

/// Straight graphs of empty kernels, between two stamps.
void add_graphs(std::vector<Case>& cases) {
  for (const int nodes : {1, 16, 64, 256, 1024}) {
    const Axes axes{{"kernels", std::int64_t{nodes}}};
    const auto graph_of = [=](Context& context) {
      const Buffer stamps = context.buffers().output("stamps", 2 * sizeof(long long));
      return std::make_shared<GraphExec>(
          make_graph(Shape::straight, nodes, stamps.as<long long>()));
    };
    const bool quick = nodes == 1 || nodes == 256;
    // One at a time: a second launch of the same graph may wait for the first.
    cases.push_back(host_case(
        graph_launch, quick,
        [=](Context& context) {
          return mean_of([stream = context.stream(), graph = graph_of(context)] {
            const double seconds =
                host_seconds([&] { FATHOM_CUDA(cudaGraphLaunch(graph->get(), stream)); });
            synchronize(stream);
            return seconds;
          });
        },
        axes));
    cases.push_back(host_case(
        graph_launch_and_synchronize, nodes == 1,
        [=](Context& context) {
          cudaStream_t stream = context.stream();
          return round_trip([=, graph = graph_of(context)] {
            FATHOM_CUDA(cudaGraphLaunch(graph->get(), stream));
            synchronize(stream);
          });
        },
        axes));
  }
}

}  // namespace

std::vector<Case> host_cases(const DeviceFacts&) {
  std::vector<Case> cases;
  add_launches(cases);
  add_waits(cases);
  add_graphs(cases);
  return cases;
}

}  // namespace fathom::launch_overhead
