#include <fmt/format.h>

#include "harness/cases.h"
#include "harness/host_timer.h"
#include "probes/launch_overhead/claims.h"
#include "probes/launch_overhead/kernels.h"

// Empty kernels as the harness times any launch: several one after the other in a graph.

namespace fathom::launch_overhead {
namespace {

/// A case without `prepare`, whose metric is a time in seconds.
Case make_case(const char* sweep, const std::string& what, const Axes& more, bool quick) {
  Case c;
  c.name = fmt::format("{}/{}", sweep, what);
  c.axes = {{"sweep", sweep}, {"what", what}};
  add_axes(c, more, false);
  c.suite = quick_if(quick);
  c.metric = {"time", "s", Better::lower, std::nullopt};
  c.precision = Precision{.relative_half_width = 0.01, .min_samples = 24, .time_limit_s = 0.04};
  return c;
}

/// There is nothing in an empty kernel that could be checked.
std::vector<Case> empty_cases(const DeviceFacts&) {
  constexpr int threads = 32, blocks = 1;
  Case c = make_case("grid", "empty kernel", {{"threads", threads}, {"blocks", blocks}}, true);
  c.value = [](double seconds) { return seconds; };
  c.prepare = [=](Context& context) {
    Workload workload;
    workload.launch = [=, stream = context.stream()] { launch_empty(blocks, threads, stream); };
    return workload;
  };
  return {c};
}

// Kernels one after the other, timed by the global timer that the kernels themselves read. All of
// them are queued before the first may run, so no time of the host is in it.

constexpr double nanosecond = 1e-9;
/// The harness queues three such rows at once before the first may run: all of them together stay
/// far below the number of launches that the driver queues before it makes the host wait.
constexpr int stream_kernels = 128;
constexpr int links = 32;
/// Some five microseconds: longer than it takes to launch the next kernel meanwhile.
constexpr int link_clocks = 10'000;

/// Kernels that write their times to `stamps`, of which `seconds` makes the metric.
Workload stamped(Context& context, const Buffer& stamps, std::function<void()> launch,
                 std::function<double(const Stamps&)> seconds) {
  const auto read = [=, stream = context.stream()] {
    return copy_to_host<long long>(stamps, stream);
  };
  Workload workload = workload_of(
      context, {stamps}, std::move(launch), [=] { return check(read()); });
  workload.read_sample = [=] { return seconds(read()); };
  workload.sample_timer = "globaltimer";
  return workload;
}

std::function<void()> launching(GraphExec graph, cudaStream_t stream) {
  return [=, shared = std::make_shared<GraphExec>(std::move(graph))] {
    FATHOM_CUDA(cudaGraphLaunch(shared->get(), stream));
  };
}

/// From the first stamp to the last over the steps from each of the empty kernels to the next.
Case chain_case(bool graph, int kernels, bool quick) {
  Case c = make_case("chain", graph ? in_graph : in_stream, {{"kernels", kernels}}, quick);
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const Buffer stamps = context.buffers().output("stamps", 2 * sizeof(long long));
    auto* slots = stamps.as<long long>();
    std::function<void()> launch = [=] { launch_row(kernels, slots, stream); };
    if (graph) launch = launching(capture_graph(launch, stream), stream);
    return stamped(context, stamps, std::move(launch), [=](const Stamps& t) {
      return static_cast<double>(t[1] - t[0]) * nanosecond / (kernels + 1);
    });
  };
  return c;
}

/// The mean gap from the end of a kernel's work to the begin of that of the next, which needs it.
Case gap_case(bool graph, bool programmatic) {
  Case c = make_case("gap", graph ? in_graph : in_stream,
                     {{"programmatic", programmatic ? "yes" : "no"}}, true);
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const Buffer stamps = context.buffers().output("links", 2 * links * sizeof(long long));
    std::function<void()> launch = [=] {
      for (int i = 0; i < links; ++i)  // the first has no kernel of the chain before it
        launch_link({stamps.as<long long>(), i, link_clocks, programmatic && i > 0}, stream);
    };
    if (graph) launch = launching(capture_graph(launch, stream), stream);
    return stamped(context, stamps, std::move(launch), [](const Stamps& t) {
      long long sum = 0;
      for (int i = 1; i < links; ++i) sum += t[2 * i] - t[2 * i - 1];
      return static_cast<double>(sum) * nanosecond / (links - 1);
    });
  };
  return c;
}

std::vector<Case> chain_cases(const DeviceFacts& device) {
  std::vector<Case> cases{chain_case(false, stream_kernels, true)};
  for (const int kernels : {1, 4, 16, 64, 256, 512})
    cases.push_back(chain_case(true, kernels, kernels == 256));
  for (const bool graph : {false, true})
    for (const bool programmatic : {false, true})
      if (!programmatic || device.major >= 9) cases.push_back(gap_case(graph, programmatic));
  return cases;
}

// What the host pays: calls on a stream that nothing else uses, by the host's clock.

/// Calls that make a sample: the driver queues more before it makes the host wait.
constexpr int batch = 64;
constexpr int round_trips = 16;
/// A GPU that has not answered by then has a fault.
constexpr double answer_limit_s = 2;

/// Makes the function that takes one sample: seconds of one call.
using MakeSampler = std::function<std::function<double()>(Context&)>;

void synchronize(cudaStream_t stream) { FATHOM_CUDA(cudaStreamSynchronize(stream)); }

/// Times calls or round trips on the stream, which is emptied after the clock has stopped.
template <class Call>
std::function<double()> batched(cudaStream_t stream, int calls, Call call) {
  return [=] {
    const double seconds = host_seconds([&] {
      for (int i = 0; i < calls; ++i) call(stream);
    });
    synchronize(stream);
    return seconds / calls;
  };
}

/// The mean of several rounds, each of which returns its seconds.
template <class Round>
std::function<double()> mean_of(Round round) {
  return [=] {
    double seconds = 0;
    for (int i = 0; i < round_trips; ++i) seconds += round();
    return seconds / round_trips;
  };
}

/// A flag in pinned host memory that a kernel raises to ever new values.
class Flag {
 public:
  Flag() { *flag_ = 0; }
  /// Launches the kernel and spins until its value is there.
  void launch_and_wait(cudaStream_t stream) {
    const int wanted = ++value_;
    const volatile int* seen = flag_.get();
    launch_signal(flag_.get(), wanted, stream);
    spin_until([=] { return *seen == wanted; }, answer_limit_s);
  }

 private:
  PinnedMemory<int> flag_ = make_pinned_memory<int>(1);
  int value_ = 0;
};

std::vector<Case> host_cases(const DeviceFacts&) {
  std::vector<Case> cases;
  const auto add = [&](const char* what, bool quick, MakeSampler make, const Axes& more = {}) {
    Case& c = cases.emplace_back(make_case("host", what, more, quick));
    c.prepare = [make = std::move(make)](Context& context) {
      Workload workload;
      // What the harness itself launches around the sample; the stream is idle when it takes it.
      workload.launch = [stream = context.stream()] { launch_empty(1, 1, stream); };
      workload.read_sample = make(context);
      workload.read_sample();  // a kernel's first launch loads it, a graph's uploads it
      workload.sample_timer = host_timer_name;
      return workload;
    };
  };
  add(
      kernel_launch, true,
      [](Context& context) {
        return batched(
            context.stream(), batch, [](cudaStream_t on) { launch_empty(1, 1, on); });
      });
  add(
      launch_and_synchronize, true,
      [](Context& context) {
        return batched(
            context.stream(), round_trips,
            [](cudaStream_t on) { launch_empty(1, 1, on), synchronize(on); });
      });
  add(synchronize_idle, true,
      [](Context& context) { return batched(context.stream(), batch, synchronize); });
  for (const bool until_flag : {true, false})
    add(until_flag ? launch_until_flag : synchronize_after_flag, true, [=](Context& context) {
      return mean_of([=, stream = context.stream(), flag = std::make_shared<Flag>()] {
        const double before = host_seconds([&] { flag->launch_and_wait(stream); });
        const double after = host_seconds([&] { synchronize(stream); });
        return until_flag ? before : after;
      });
    });
  // Straight graphs of empty kernels, between two stamps.
  for (const int nodes : {1, 16, 64, 256, 1024}) {
    for (const bool synchronizes : {false, true}) {
      const auto sampler = [=](Context& context) -> std::function<double()> {
        cudaStream_t stream = context.stream();
        const Buffer stamps = context.buffers().output("stamps", 2 * sizeof(long long));
        const auto row = [=] { launch_row(nodes, stamps.as<long long>(), stream); };
        const auto start = launching(capture_graph(row, stream), stream);
        if (synchronizes)
          return batched(stream, round_trips, [=](cudaStream_t on) { start(), synchronize(on); });
        // One at a time: a second launch of the same graph may wait for the first.
        return mean_of([=] {
          const double seconds = host_seconds(start);
          synchronize(stream);
          return seconds;
        });
      };
      add(synchronizes ? graph_launch_and_synchronize : graph_launch,
          nodes == 1 || (nodes == 256 && !synchronizes), sampler, {{"kernels", nodes}});
    }
  }
  return cases;
}

const Probe probe{
    .name = "launch_overhead",
    .question =
        "What does it cost to launch a kernel, to wait for it, and to follow one kernel by "
        "another?",
    .method =
        "On the GPU: kernels that are all queued before the first may run, timed by events, or by "
        "the global timer that kernels read. Kernels whose gap is measured work for some "
        "microseconds each. On the host: the steady clock around calls on a stream that nothing "
        "else uses, 64 calls or 16 round trips to a sample. For what cudaStreamSynchronize itself "
        "takes the host first spins on a flag in its memory that the kernel raises.",
    .conclude = conclude,
    .cases = {empty_cases, chain_cases, host_cases}};

}  // namespace
}  // namespace fathom::launch_overhead

FATHOM_PROBE(fathom::launch_overhead::probe)
