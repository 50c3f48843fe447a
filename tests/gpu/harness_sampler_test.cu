// Timing on a GPU, with kernels whose time or order is known.

#include "harness/counters/catalogue.h"
#include "harness/counters/range_profiler.h"
#include "harness/device_clocks.cuh"
#include "harness/host_timer.h"
#include "harness/timing.h"
#include "results/statistics.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;

namespace {

/// Takes `ns` of the GPU's own timer, and writes `mark` into a log if there is one.
__global__ void spin(std::int64_t ns, int* log, int mark) {
  const std::int64_t start = nanoseconds_now();
  if (log != nullptr) log[1 + atomicAdd(log, 1)] = mark;
  while (nanoseconds_now() - start < ns) {
  }
}

/// As many cycles of every SM as it is told, and what its clocks say of it.
__global__ void spin_cycles(long long cycles, SmStamp* passed) {
  const std::int64_t ns = nanoseconds_now(), start = clock_now();
  while (clock_now() - start < cycles) {
  }
  if (threadIdx.x + blockIdx.x == 0)
    *passed = {static_cast<std::uint64_t>(clock_now() - start),
               static_cast<std::uint64_t>(nanoseconds_now() - ns)};
}

__global__ void read_words(const uint4* data, std::size_t count, unsigned* sink) {
  unsigned seen = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    seen |= data[i].x | data[i].w;
  }
  if (seen == 0) *sink = 1;
}

struct Timed : test::Gpu {
  Sampler sampler{facts, stream.get()};

  Workload spinning(std::int64_t ns, int* log = nullptr, int mark = 0) {
    Workload workload;
    workload.launch = [=, s = stream.get()] { spin<<<1, 1, 0, s>>>(ns, log, mark); };
    workload.launch();
    FATHOM_CUDA(cudaDeviceSynchronize());
    return workload;
  }
  Samples sample(const Workload& workload, CacheState cache = CacheState::hot,
                 const TimingPolicy& policy = {}) {
    return sampler.sample(std::span(&workload, 1), cache, policy);
  }
};

}  // namespace

// Long enough for one launch to be a sample, in nanoseconds.
constexpr auto single_ns = static_cast<std::int64_t>(1.5e9 * TimingPolicy{}.min_sample_s);

TEST_CASE("a kernel of known duration is timed within 2 %", "[gpu][harness]") {
  Timed gpu;
  for (const double seconds : {1e-9 * single_ns, 2e-3}) {
    const Samples samples = gpu.sample(gpu.spinning(static_cast<std::int64_t>(seconds * 1e9)));
    CAPTURE(seconds, median(samples.of_workload[0]), samples.timing.mode);
    CHECK(std::abs(median(samples.of_workload[0]) / seconds - 1) < 0.02);
    CHECK(samples.timing.launches_per_sample == 1);
    CHECK(samples.timing.mode == "hot");
  }
}

TEST_CASE("short kernels are gathered in a graph, and the time is still one launch's",
          "[gpu][harness]") {
  Timed gpu;
  const Samples samples = gpu.sample(gpu.spinning(20'000));
  CAPTURE(median(samples.of_workload[0]), samples.timing.launches_per_sample);
  CHECK(samples.timing.mode == "graph");
  CHECK(samples.timing.launches_per_sample > 1);
  // The gap between two kernels of a graph, a microsecond or so, is part of it.
  CHECK(median(samples.of_workload[0]) > 20e-6 * 0.98);
  CHECK(median(samples.of_workload[0]) < 24e-6);
}

TEST_CASE("the SM clock between two stamps is the one that a kernel sees", "[gpu][harness]") {
  Timed gpu;
  SmClock clock(gpu.stream.get());
  const auto passed = make_pinned_memory<SmStamp>(1);
  // The first wakes the GPU.
  for (const long long cycles : {200'000'000ll, 10'000'000ll, 1'000'000ll}) {
    CAPTURE(cycles);
    clock.begin();
    spin_cycles<<<gpu.facts.sms, 32, 0, gpu.stream.get()>>>(cycles, passed.get());
    clock.end();
    const auto hertz = clock.hertz();
    REQUIRE(hertz.has_value());
    const double seen =
        1e9 * static_cast<double>(passed->cycles) / static_cast<double>(passed->nanoseconds);
    CAPTURE(*hertz, seen);
    CHECK(std::abs(*hertz / seen - 1) < 0.01);
  }
  clock.begin();
  clock.end();
  CHECK_FALSE(clock.hertz().has_value());  // too short
}

TEST_CASE("groups of samples that events timed have an SM clock, and no others", "[gpu][harness]") {
  Timed gpu;
  const std::array both{gpu.spinning(single_ns), gpu.spinning(2 * single_ns)};
  const Workload& a = both[0];
  TimingPolicy policy;
  policy.min_samples = policy.max_samples = 8;
  const auto clocks = [&](const Workload& workload, CacheState cache = CacheState::hot) {
    return gpu.sample(workload, cache, policy).sm_clocks_hz;
  };
  const auto right = [&](const std::vector<double>& hertz) {
    return std::ranges::all_of(
        hertz, [&](double hz) { return hz > 1e8 && hz < 1.02 * gpu.facts.sm_clock_max_hz; });
  };
  CHECK(clocks(a).size() == 2);  // four samples a group
  CHECK(clocks(a, CacheState::cold).size() == 2);
  CHECK(right(clocks(a)));
  CHECK(clocks(gpu.spinning(20'000)).size() == 2);  // in graphs
  // With rests each sample has its own, and the opponent's do not count.
  policy.rest = 1;
  CHECK(clocks(a).size() == 8);
  const auto first = gpu.sampler.sample(both, CacheState::hot, policy).sm_clocks_hz;
  CHECK(first.size() == 8);
  CHECK(right(first));
  policy.rest = 0;
  Workload paced = gpu.spinning(single_ns), own_clock = gpu.spinning(single_ns);
  paced.host_paced = true;
  own_clock.read_sample = [] { return 7.0; };
  CHECK(clocks(paced).empty());
  CHECK(clocks(own_clock).empty());
}

TEST_CASE("the GPU rests before samples as long as it was told", "[gpu][harness]") {
  Timed gpu;
  const std::array both{gpu.spinning(2'000'000), gpu.spinning(3'000'000)};
  TimingPolicy policy;
  policy.min_samples = policy.max_samples = 8;
  policy.rest = 3;
  const Samples samples = gpu.sampler.sample(both, CacheState::hot, policy);
  REQUIRE(samples.of_workload[0].size() == 8);
  CHECK(std::abs(median(samples.of_workload[0]) / 2e-3 - 1) < 0.02);
  CHECK(std::abs(median(samples.of_workload[1]) / 3e-3 - 1) < 0.02);
  // Eight of each, all but the first after a rest.
  CHECK(samples.timing.elapsed_s > 8 * 5e-3 + 7 * 3 * 5e-3);
}

TEST_CASE("opponents are timed in the order A B B A", "[gpu][harness]") {
  Timed gpu;
  const auto log = make_device_memory<int>(4096);
  gpu.set(log.get(), 0, 4096 * sizeof(int));
  const std::array both{gpu.spinning(single_ns, log.get(), 0),
                        gpu.spinning(single_ns / 3 * 4, log.get(), 1)};
  const Samples samples = gpu.sampler.sample(both, CacheState::hot, {});
  const std::vector<int> host = test::to_host<int>(log.get(), 4096);
  // Before the samples: two launches by this test, and each workload's warm-up.
  const int before = 2 + 2 * 3;
  REQUIRE(host[0] > before);
  REQUIRE((host[0] - before) % 4 == 0);
  for (int i = before; i < host[0]; i += 4) {
    CAPTURE(i);
    CHECK(std::array{host[1 + i], host[2 + i], host[3 + i], host[4 + i]} == std::array{0, 1, 1, 0});
  }
  CHECK(samples.of_workload[0].size() == samples.of_workload[1].size());
  CHECK(samples.of_workload[0].size() == static_cast<std::size_t>((host[0] - before) / 2));
  CHECK(samples.timing.launches_per_sample == 1);
  const double ratio =
      paired_ratio(samples.of_workload[0], samples.of_workload[1], Better::lower).median;
  CHECK(std::abs(ratio - 4.0 / 3) < 0.02);
}

TEST_CASE("beside opponents both turns of a short kernel are one sample", "[gpu][harness]") {
  Timed gpu;
  const std::array both{gpu.spinning(20'000), gpu.spinning(40'000)};
  const Samples samples =
      gpu.sampler.sample(both, CacheState::hot, {.min_samples = 24, .max_samples = 24});
  CHECK(samples.timing.mode == "graph");
  CHECK(samples.of_workload[0].size() == 12);
  CHECK(samples.of_workload[1].size() == 12);
  CHECK(samples.timing.launches_per_sample == 2 * samples.launches[0]);
  // Two turns are as many as were asked for, and yet one sample alone.
  const Samples few = gpu.sampler.sample(both, CacheState::hot,
                                         {.target_relative_half_width = 1, .min_samples = 2});
  CHECK(few.of_workload[0].size() == 2);
}

TEST_CASE("a cold launch finds nothing in the L2", "[gpu][harness]") {
  Timed gpu;
  const std::size_t bytes = gpu.facts.l2_bytes / 8 / 16 * 16;
  BufferPool buffers(0, gpu.stream.get(), 1);
  const Buffer data = buffers.input("data", bytes);
  const Buffer sink = buffers.output("sink", sizeof(unsigned));
  Workload reading;
  reading.launch = [&] {
    read_words<<<4 * gpu.facts.sms, 256, 0, gpu.stream.get()>>>(data.as<uint4>(), bytes / 16,
                                                                sink.as<unsigned>());
  };
  reading.launch();
  FATHOM_CUDA(cudaDeviceSynchronize());
  const double hot_time = median(gpu.sample(reading).of_workload[0]);
  const Samples cold = gpu.sample(reading, CacheState::cold);
  CHECK(cold.timing.mode == "cold");
  CHECK(median(cold.of_workload[0]) > hot_time);

  const std::string problem = CounterSession::problem_on(0);
  if (!problem.empty()) SKIP("no counters: " << problem);
  const std::vector<std::string> names = {"l2_hit_rate"};
  CounterSession session(0, names);
  const auto hits = [&](const std::function<void()>& prepare) {
    return session.collect(prepare, reading.launch).at("l2_hit_rate").value.value();
  };
  const double hot_hits = hits(reading.launch);
  const double cold_hits = hits([&] { gpu.sampler.flush_l2(); });
  CAPTURE(hot_hits, cold_hits);
  CHECK(hot_hits > 90);
  CHECK(cold_hits < hot_hits - 40);
}

TEST_CASE("nothing is timed while counters are collected", "[gpu][harness]") {
  Timed gpu;
  const Workload workload = gpu.spinning(single_ns);
  {
    const CountersActive active;
    CHECK_THROWS_AS(gpu.sample(workload), std::logic_error);
  }
  CHECK(gpu.sample(workload).of_workload[0].size() > 1);
}

TEST_CASE("launches that wait for the GPU are timed all the same, and said to be",
          "[gpu][harness]") {
  Timed gpu;
  const Workload spinning = gpu.spinning(single_ns);
  Workload waiting;
  waiting.launch = [&] {  // as under a tool that serialises launches
    spinning.launch();
    gpu.wait();
  };
  const Samples samples = gpu.sample(waiting);
  CAPTURE(samples.timing.mode, median(samples.of_workload[0]));
  CHECK(samples.timing.mode == "hot, launches not held back");
  CHECK(median(samples.of_workload[0]) > 1e-9 * single_ns * 0.98);
  CHECK(median(samples.of_workload[0]) <
        1e-9 * single_ns + 100e-6);  // and not the half second of waiting
}

TEST_CASE("a metric that the kernel measures is taken as it is", "[gpu][harness]") {
  Timed gpu;
  Workload workload = gpu.spinning(50'000);
  int reads = 0;
  workload.read_sample = [&] { return 7.0 + 1e-9 * ++reads; };
  const Samples samples = gpu.sample(workload);
  CHECK(samples.timing.mode == "in-kernel clock");
  CHECK(samples.timing.timer == "clock64");
  CHECK(samples.of_workload[0].size() == static_cast<std::size_t>(reads));
  CHECK(std::abs(median(samples.of_workload[0]) - 7) < 1e-6);
  CHECK(std::abs(median(samples.seconds) / 50e-6 - 1) < 0.2);

  workload.sample_timer = host_timer_name;
  const Samples by_host = gpu.sample(workload);
  CHECK(by_host.timing.mode == "host clock");
  CHECK(by_host.timing.timer == "steady_clock");
}
