// Which instruction a kernel waits on, by source line.

#include <map>

#include "harness/counters/pc_sampling.h"
#include "harness/counters/range_profiler.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;

namespace {

constexpr int count = 1 << 24;
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

}  // namespace

TEST_CASE("a pointer chase waits on its load, by line and reason", "[counters][gpu]") {
  PcSampler::watch_modules();
  const auto next = make_device_memory<unsigned>(count);
  const auto out = make_device_memory<unsigned>(132 * 256);
  shuffle_indices<<<count / 256, 256>>>(next.get());
  FATHOM_CUDA(cudaDeviceSynchronize());

  PcSampler sampler(0);
  CHECK(counters_active());
  const PcProfile profile =
      sampler.collect([&] { chase<<<132, 256>>>(out.get(), next.get(), 2000); });
  CAPTURE(profile.total_samples, profile.dropped_samples, profile.line_reason);
  std::map<std::string, std::uint64_t> reasons;
  std::uint64_t total = 0, on_load_line = 0, chase_samples = 0;
  for (const PcSample& sample : profile.samples) {
    total += sample.total;
    if (sample.function.find("chase") == std::string::npos) continue;
    chase_samples += sample.total;
    if (sample.line == load_line) on_load_line += sample.total;
    for (const auto& [reason, samples] : sample.by_reason) reasons[reason] += samples;
  }
  CHECK(chase_samples > 1000);
  CHECK(chase_samples == total);
  CHECK(total <= profile.total_samples);
  CHECK(profile.dropped_samples == 0);
  CHECK(reasons["long_scoreboard"] > chase_samples / 2);
  CHECK(profile.line_reason.empty());
  CHECK(on_load_line > chase_samples / 2);

  // A second launch is a profile of its own.
  const PcProfile again =
      sampler.collect([&] { chase<<<132, 256>>>(out.get(), next.get(), 2000); });
  std::uint64_t second = 0;
  for (const PcSample& sample : again.samples) second += sample.total;
  CHECK(second > total / 2);
  CHECK(second < total * 2);
}

TEST_CASE("the profilers can be used one after the other", "[counters][gpu]") {
  const auto next = make_device_memory<unsigned>(count);
  const auto out = make_device_memory<unsigned>(132 * 256);
  shuffle_indices<<<count / 256, 256>>>(next.get());
  const auto launch = [&] { chase<<<132, 256>>>(out.get(), next.get(), 1000); };
  for (int round = 0; round < 2; ++round) {
    {
      const std::vector<std::string> names = {"global_load_instructions"};
      CounterSession session(0, names);
      const auto readings = session.collect({}, launch);
      CHECK(readings.at("global_load_instructions").value == 1000.0 * 132 * 8);
    }
    PcSampler sampler(0);
    CHECK_FALSE(sampler.collect(launch).samples.empty());
  }
  CHECK(counters_active() == false);
}
