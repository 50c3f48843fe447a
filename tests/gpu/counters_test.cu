// Hardware counters of kernels whose counts are known, and which instruction a kernel waits on, by
// source line.

#include "harness/counters/pc_sampling.h"
#include "harness/counters/range_profiler.h"
#include "harness/host_timer.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;

namespace {

constexpr int count = 1 << 24;

__global__ void copy(int4* destination, const int4* source) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  destination[i] = source[i];
}

// Every lane reads the word `stride` words after its neighbour's, `repeats` times.
__global__ void read_shared(int* out, int stride, int repeats) {
  __shared__ volatile int words[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = i;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < repeats; ++i) sum += words[(threadIdx.x % 32 * stride) & 1023];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

constexpr int load_line = __LINE__ + 5;

// Pointer chasing: every warp waits for the load of the line before.
__global__ void chase(unsigned* out, const unsigned* next, int steps) {
  unsigned at = threadIdx.x + blockIdx.x * blockDim.x;
  for (int i = 0; i < steps; ++i) at = next[at];
  out[threadIdx.x + blockIdx.x * blockDim.x] = at;
}

__global__ void shuffle_indices(unsigned* next) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < count) next[i] = (i * 1664525u + 1013904223u) % count;
}

struct Chase {
  static constexpr int blocks = 132, threads = 256;
  DeviceMemory<unsigned> next = make_device_memory<unsigned>(count),
                         out = make_device_memory<unsigned>(blocks * threads);
  Chase() {
    shuffle_indices<<<count / 256, 256>>>(next.get());
    FATHOM_CUDA(cudaDeviceSynchronize());
  }
  void operator()(int steps) const { chase<<<blocks, threads>>>(out.get(), next.get(), steps); }
};

using Names = std::vector<std::string>;

double value(const std::map<std::string, CounterReading>& readings, const std::string& role) {
  const CounterReading& reading = readings.at(role);
  INFO(role << ": " << reading.reason);
  REQUIRE(reading.value.has_value());
  return *reading.value;
}

}  // namespace

// First: what launches a kernel of this file before the sampler watches loads its lines unseen.
TEST_CASE("a pointer chase waits on its load, by line and reason", "[counters][gpu]") {
  PcSampler::watch_modules();
  const Chase chase;
  PcSampler sampler(0);
  CHECK(counters_active());
  std::uint64_t first = 0;  // samples
  for (int launch = 0; launch < 2; ++launch) {
    const PcProfile profile = sampler.collect([&] { chase(2000); });
    CAPTURE(launch, profile.line_reason);
    std::uint64_t samples = 0, on_load_line = 0, for_load = 0;
    for (const PcSample& sample : profile.samples) {
      CHECK(sample.function.find("chase") != std::string::npos);
      const bool on_line = sample.source && sample.source->line == load_line;
      for (const auto& [reason, found] : sample.by_reason) {
        samples += found;
        if (on_line) on_load_line += found;
        if (reason == "long_scoreboard") for_load += found;
      }
    }
    CHECK(samples > 1000);
    // A second launch is a profile of its own.
    if (launch == 0) first = samples;
    CHECK(samples > first / 2);
    CHECK(samples < first * 2);
    CHECK(profile.line_reason.empty());
    CHECK(for_load > samples / 2);
    CHECK(on_load_line > samples / 2);
  }
}

TEST_CASE("each counter has a value or a reason, exact ones repeat, a copy moves its sectors",
          "[counters][gpu]") {
  const auto from = make_device_memory<int4>(count), to = make_device_memory<int4>(count);
  Names names;
  for (const Role& role : roles()) names.push_back(role.name);
  CounterSession session(0, names);
  CHECK(counters_active());
  const auto launch = [&] { copy<<<count / 256, 256>>>(to.get(), from.get()); };
  const auto first = session.collect({}, launch);
  const auto second = session.collect({}, launch);
  REQUIRE(first.size() == names.size());
  for (const char* moved : {"global_load_sectors", "global_store_sectors"})
    CHECK(value(first, moved) == count / 2);
  CHECK(value(first, "global_load_requests") == count / 32);
  for (const Role& role : roles()) {
    CAPTURE(role.name);
    const CounterReading& a = first.at(role.name);
    CHECK(a.value.has_value() == a.reason.empty());
    CHECK((!a.metric.empty() || a.reason.starts_with("unavailable on ")));
    if (a.value && role.exact) CHECK(a.value == second.at(role.name).value);
  }
}

TEST_CASE("a range of a short kernel costs milliseconds, and timing is as before afterwards",
          "[counters][gpu]") {
  const auto out = make_device_memory<int>(32);
  const auto launch = [&] { read_shared<<<1, 32>>>(out.get(), 1, 1); };
  const auto time_launches = [&] {
    launch();
    FATHOM_CUDA(cudaDeviceSynchronize());
    return host_seconds([&] {
      for (int i = 0; i < 1000; ++i) launch();
      FATHOM_CUDA(cudaDeviceSynchronize());
    });
  };
  const double before = time_launches();
  {
    CounterSession session(
        0, Names{"global_load_sectors", "global_store_sectors", "global_load_requests"});
    session.collect({}, launch);
    CHECK(host_seconds([&] {
            for (int i = 0; i < 100; ++i) session.collect({}, launch);
          }) < 10);
  }
  CHECK(time_launches() < 2 * before);
}

TEST_CASE("a batch counts each launch as it would be counted alone", "[counters][gpu]") {
  const auto out = make_device_memory<int>(64 * 32);
  // Every launch differs from its neighbours in what each counter reads.
  const auto launch = [&](std::size_t i) {
    read_shared<<<1 + i % 7, 32>>>(out.get(), static_cast<int>(i % 33),
                                   1 + static_cast<int>(i % 5));
  };
  // One pass, then a set that needs several.
  Names many;
  for (const Role& role : roles())
    if (role.exact) many.push_back(role.name);
  for (const Names& names : {Names{"shared_load_wavefronts", "shared_load_conflicts",
                                   "shared_load_instructions", "instructions_executed"},
                             many}) {
    CounterSession session(0, names);
    REQUIRE(session.largest_batch() > 1);
    // Two whole groups, and the part of one.
    const std::size_t launches = 2 * session.largest_batch() + 3;
    std::size_t prepared = 0;
    const auto batch = session.collect_batch([&](std::size_t) { ++prepared; }, launches, launch);
    CHECK(prepared == launches * session.passes());
    REQUIRE(batch.size() == launches);
    for (std::size_t i = 0; i < launches; ++i) {
      CAPTURE(i);
      const std::size_t loads = (1 + i % 7) * (1 + i % 5);
      CHECK(value(batch[i], "shared_load_instructions") == loads);
      CHECK(value(batch[i], "shared_load_wavefronts") ==
            loads * (i % 33 == 0 ? 1 : std::gcd(i % 33, 32)));
    }
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{34}, launches - 1}) {
      CAPTURE(i);
      const auto alone = session.collect({}, [&] { launch(i); });
      for (const std::string& name : names) {
        CAPTURE(name);
        CHECK(alone.at(name).value == batch[i].at(name).value);
        CHECK(alone.at(name).reason == batch[i].at(name).reason);
      }
    }
  }
}

TEST_CASE("a launch that throws within a batch leaves the session usable", "[counters][gpu]") {
  const auto out = make_device_memory<int>(32);
  CounterSession session(0, Names{"instructions_executed"});
  const auto launch = [&](std::size_t) { read_shared<<<1, 32>>>(out.get(), 1, 1); };
  const auto fail_late = [&](std::size_t i) {
    if (i == 3) throw std::runtime_error("no");
    launch(i);
  };
  CHECK_THROWS_AS(session.collect_batch({}, 8, fail_late), std::runtime_error);
  const auto after = session.collect_batch({}, 8, launch);
  REQUIRE(after.size() == 8);
  for (const auto& readings : after) CHECK(value(readings, "instructions_executed") > 0);
  CHECK(session.collect_batch({}, 0, launch).empty());
}

TEST_CASE("the profilers can be used one after the other", "[counters][gpu]") {
  const Chase chase;
  for (int round = 0; round < 2; ++round) {
    {
      CounterSession session(0, Names{"global_load_instructions"});
      const auto readings = session.collect({}, [&] { chase(1000); });
      CHECK(readings.at("global_load_instructions").value == 1000.0 * 132 * 8);
    }
    PcSampler sampler(0);
    CHECK_FALSE(sampler.collect([&] { chase(1000); }).samples.empty());
  }
  CHECK_FALSE(counters_active());
}
