// The harness's own kernels: fills, the wait for the host, the flush.

#include "harness/buffers.h"
#include "harness/timing_kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;

TEST_CASE("fills of every kind write all of a buffer and nothing else",
          "[gpu][harness][sanitized]") {
  test::Pool pool;
  for (const Fill fill :
       {Fill::random_bits, Fill::uniform_float, Fill::uniform_double, Fill::uniform_half,
        Fill::uniform_bfloat16, Fill::normal_float, Fill::normal_double, Fill::normal_half,
        Fill::normal_bfloat16, Fill::normal_e4m3, Fill::normal_int8, Fill::normal_int32}) {
    for (const std::size_t bytes : {8, 4096 + 8}) {
      CAPTURE(static_cast<int>(fill), bytes);
      const Buffer buffer = pool.poisoned("filled", bytes);
      fill_random_data(buffer.data, bytes, fill, 1, pool.stream.get());
      // Poison is NaN in floating point, and of random bits and integers no eight bytes in a row
      // are all ones.
      const auto words = pool.read<std::uint64_t>(buffer);
      for (const std::uint64_t word : words) CHECK(word != ~std::uint64_t{0});
      CHECK(std::set(words.begin(), words.end()).size() == words.size());
      pool.check_guards();
    }
  }
}

TEST_CASE("the wait for the host ends when it is released, or by itself",
          "[gpu][harness][sanitized]") {
  test::Gpu gpu;
  const auto release = make_pinned_memory<int>(1), timed_out = make_pinned_memory<int>(1);
  const auto wait = [&](int released, std::uint64_t limit_ns) {
    // Set before the launch: a tool may let no launch return before its kernel has ended.
    *release = released;
    *timed_out = 0;
    launch_wait_for_host(release.get(), timed_out.get(), limit_ns, gpu.stream.get());
    gpu.wait();
    return *timed_out;
  };
  constexpr std::uint64_t minute = 60'000'000'000;
  CHECK(wait(1, minute) == 0);
  CHECK(wait(0, 1000) == 1);
}

TEST_CASE("reading everything writes nothing", "[gpu][harness][sanitized]") {
  test::Pool pool;
  const Buffer data =
      pool.buffers.input("data", std::size_t{8} << 20);  // every thread has elements
  const Buffer sink = pool.poisoned("sink", sizeof(int));
  launch_read_all(data.data, data.bytes, sink.as<int>(), pool.stream.get());
  CHECK(pool.read<int>(sink)[0] == -1);
  pool.check_guards();
}

TEST_CASE("stamps are of SMs that there are, and of no other place", "[gpu][harness][sanitized]") {
  test::Pool pool;
  const Buffer stamps = pool.poisoned("stamps", most_sms * sizeof(SmStamp));
  launch_stamp_sms(stamps.as<SmStamp>(), pool.stream.get());
  int met = 0;
  for (const SmStamp& stamp : pool.read<SmStamp>(stamps)) {
    const bool cycles = stamp.cycles != ~0ull, nanoseconds = stamp.nanoseconds != ~0ull;
    CHECK(cycles == nanoseconds);
    met += cycles;
  }
  CHECK(met >= 1);
  CHECK(met <= pool.facts.sms);
  pool.check_guards();
}
