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

std::vector<Case> grid_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  // There is nothing in an empty kernel that could be checked.
  const auto add = [&](const char* sweep, const Axes& more, bool quick, auto launch) {
    Case& c = cases.emplace_back(make_case(sweep, "empty kernel", more, quick));
    c.value = [](double seconds) { return seconds; };
    c.prepare = [=](Context& context) {
      Workload workload;
      workload.launch = [=, stream = context.stream()] { launch(stream); };
      return workload;
    };
  };
  for (const int threads : {32, 1024}) {
    for (const int a_sm : {0, 1, 4, 16, 64, 256}) {  // 0: one block in all
      const int blocks = a_sm == 0 ? 1 : a_sm * device.sms;
      add("grid", {{"threads", threads}, {"blocks", blocks}},
          a_sm >= 64 || (a_sm == 0 && threads == 32),
          [=](cudaStream_t stream) { launch_empty(blocks, threads, stream); });
    }
  }
  for (const int bytes : argument_bytes)
    add("arguments", {{"arguments (B)", bytes}}, false,
        [=](cudaStream_t stream) { launch_with_arguments(bytes, stream); });
  return cases;
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

/// From the first stamp to the last over the steps in between: of empty kernels in a row, those
/// from each to the next; of a fan-out, the kernels.
Case chain_case(const char* where, int kernels, bool quick) {
  Case c = make_case("chain", where, {{"kernels", kernels}}, quick);
  const bool stream_order = where == std::string_view(in_stream);
  const bool fans_out = where == std::string_view(fan_out_graph);
  const int steps = fans_out ? kernels : kernels + 1;
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const Buffer stamps = context.buffers().output("stamps", 2 * sizeof(long long));
    auto* slots = stamps.as<long long>();
    std::function<void()> launch = [=] { launch_row(kernels, slots, stream); };
    if (!stream_order)
      launch =
          launching(fans_out ? fan_out(kernels, slots) : capture_graph(launch, stream), stream);
    return stamped(context, stamps, std::move(launch), [=](const Stamps& t) {
      return static_cast<double>(t[1] - t[0]) * nanosecond / steps;
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
  std::vector<Case> cases{chain_case(in_stream, stream_kernels, true)};
  for (const int kernels : {1, 4, 16, 64, 256, 512})
    cases.push_back(chain_case(in_graph, kernels, kernels == 256));
  for (const int kernels : {4, 16, 64, 256, 512})
    cases.push_back(chain_case(fan_out_graph, kernels, kernels == 256));
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
std::function<double()> batched(cudaStream_t stream, Call call, int calls = batch) {
  return [=] {
    const double seconds = host_seconds([&] {
      for (int i = 0; i < calls; ++i) call(stream);
    });
    synchronize(stream);
    return seconds / calls;
  };
}

template <class Call>
MakeSampler calls_of(Call call, int calls = batch) {
  return [=](Context& context) { return batched(context.stream(), call, calls); };
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
  const auto launch = [](cudaStream_t stream) { launch_empty(1, 1, stream); };
  add(kernel_launch, true, calls_of(launch));
  add(launch_and_synchronize, true,
      calls_of([=](cudaStream_t stream) { launch(stream), synchronize(stream); }, round_trips));
  for (const bool until_flag : {true, false})
    add(until_flag ? launch_until_flag : synchronize_after_flag, true, [=](Context& context) {
      // A kernel raises a flag in the host's memory to ever new values.
      const std::shared_ptr<int> flag = make_pinned_memory<int>(1);
      const auto value = std::make_shared<int>(0);
      *flag = 0;
      return mean_of([=, stream = context.stream()] {
        const int wanted = ++*value;
        const volatile int* seen = flag.get();
        const double before = host_seconds([&] {
          launch_signal(flag.get(), wanted, stream);
          spin_until([=] { return *seen == wanted; }, answer_limit_s);
        });
        const double after = host_seconds([&] { synchronize(stream); });
        return until_flag ? before : after;
      });
    });
  for (const int bytes : argument_bytes)
    add(launch_with_argument_bytes, bytes == 4096,
        calls_of([=](cudaStream_t stream) { launch_with_arguments(bytes, stream); }),
        {{"arguments (B)", bytes}});
  add(synchronize_idle, true, calls_of(synchronize));
  add(query_idle, false,
      calls_of([](cudaStream_t stream) { FATHOM_CUDA(cudaStreamQuery(stream)); }));
  for (const bool records : {true, false})
    add(records ? record_event : query_event, true, [=](Context& context) {
      const auto event = std::make_shared<Event>(make_event());
      const auto record = [=](cudaStream_t on) { FATHOM_CUDA(cudaEventRecord(event->get(), on)); };
      if (records) return batched(context.stream(), record);
      record(context.stream());
      synchronize(context.stream());
      return batched(context.stream(),
                     [=](cudaStream_t) { FATHOM_CUDA(cudaEventQuery(event->get())); });
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
          return batched(
              stream, [=](cudaStream_t on) { start(), synchronize(on); }, round_trips);
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
        "microseconds each; none may begin its work before the one it depends on is done. On the "
        "host: the steady clock around calls on a stream that nothing else uses, 64 calls or 16 "
        "round trips to a sample. For what cudaStreamSynchronize itself takes the host first spins "
        "on a flag in its memory that the kernel raises.",
    .conclude = conclude,
    .cases = {grid_cases, chain_cases, host_cases}};

}  // namespace
}  // namespace fathom::launch_overhead

FATHOM_PROBE(fathom::launch_overhead::probe)
