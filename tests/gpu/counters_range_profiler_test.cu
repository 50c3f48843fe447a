// Hardware counters of kernels whose counts are known, on the GPU at hand.

#include "harness/counters/pc_sampling.h"
#include "harness/counters/range_profiler.h"
#include "harness/host_timer.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;

namespace {

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

double value(const std::map<std::string, CounterReading>& readings, const std::string& role) {
  const CounterReading& reading = readings.at(role);
  INFO(role << ": " << reading.reason);
  REQUIRE(reading.value.has_value());
  return *reading.value;
}

}  // namespace

TEST_CASE("exact counters repeat exactly, and a copy moves its sectors", "[counters][gpu]") {
  constexpr int count = 1 << 24;
  const auto from = make_device_memory<int4>(count), to = make_device_memory<int4>(count);
  std::vector<std::string> names;
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
    const CounterReading& b = second.at(role.name);
    CHECK(a.value.has_value() == a.reason.empty());
    if (!a.value) continue;
    if (role.exact) CHECK(a.value == b.value);
  }
}

TEST_CASE("an unavailable role comes back with its reason, and the others with values",
          "[counters][gpu]") {
  const auto out = make_device_memory<int>(32);
  std::vector<std::string> names = {"instructions_executed"};
  const std::string chip = CounterSession(0, names).chip();
  for (const Role& role : roles()) {
    if (!find_metric(role.name, chip).available()) names.push_back(role.name);
  }
  CounterSession session(0, names);
  const auto readings = session.collect({}, [&] { read_shared<<<1, 32>>>(out.get(), 1, 1); });
  CHECK(value(readings, "instructions_executed") > 0);
  for (std::size_t i = 1; i < names.size(); ++i) {
    CHECK_FALSE(readings.at(names[i]).value.has_value());
    CHECK(readings.at(names[i]).reason.starts_with("unavailable on " + chip));
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
    const std::vector<std::string> names = {"global_load_sectors", "global_store_sectors",
                                            "global_load_requests"};
    CounterSession session(0, names);
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
  std::vector<std::string> many;
  for (const Role& role : roles()) {
    if (role.exact) many.push_back(role.name);
  }
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"shared_load_wavefronts", "shared_load_conflicts",
                                 "shared_load_instructions", "instructions_executed"},
        many}) {
    CounterSession session(0, names);
    REQUIRE(session.largest_batch() > 1);
    // Two whole groups, and the part of one.
    const std::size_t count = 2 * session.largest_batch() + 3;
    std::size_t prepared = 0;
    const auto batch = session.collect_batch([&](std::size_t) { ++prepared; }, count, launch);
    CHECK(prepared == count * session.passes());
    REQUIRE(batch.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      CAPTURE(i);
      CHECK(value(batch[i], "shared_load_instructions") == (1 + i % 7) * (1 + i % 5));
      CHECK(value(batch[i], "shared_load_wavefronts") ==
            (1 + i % 7) * (1 + i % 5) * (i % 33 == 0 ? 1 : std::gcd(i % 33, 32)));
    }
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{34}, count - 1}) {
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
  const std::vector<std::string> names = {"instructions_executed"};
  CounterSession session(0, names);
  const auto launch = [&](std::size_t) { read_shared<<<1, 32>>>(out.get(), 1, 1); };
  CHECK_THROWS_AS(session.collect_batch({}, 8,
                                        [&](std::size_t i) {
                                          if (i == 3) throw std::runtime_error("no");
                                          launch(i);
                                        }),
                  std::runtime_error);
  const auto after = session.collect_batch({}, 8, launch);
  REQUIRE(after.size() == 8);
  for (const auto& readings : after) CHECK(value(readings, "instructions_executed") > 0);
  CHECK(session.collect_batch({}, 0, launch).empty());
}
