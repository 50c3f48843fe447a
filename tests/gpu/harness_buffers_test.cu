// Buffers on a GPU: what kernels do wrong must be seen. And the harness's own kernels: fills, the
// wait for the host, the flush.

#include "harness/buffers.h"
#include "harness/timing_kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using test::Pool;

namespace {

__global__ void write_byte(std::byte* base, long long at) { base[at] = std::byte{7}; }

}  // namespace

TEST_CASE("a write one byte outside of a buffer is seen and located", "[gpu][harness]") {
  for (const std::size_t bytes : {1u, 1000u, 4096u, 100001u}) {
    CAPTURE(bytes);
    Pool pool;
    const Buffer buffer = pool.buffers.output("victim", bytes);
    write_byte<<<1, 1, 0, pool.stream.get()>>>(buffer.data, 0);
    write_byte<<<1, 1, 0, pool.stream.get()>>>(buffer.data, static_cast<long long>(bytes) - 1);
    pool.check_guards();

    write_byte<<<1, 1, 0, pool.stream.get()>>>(buffer.data, static_cast<long long>(bytes));
    const auto past = pool.buffers.guards_intact();
    REQUIRE(past.has_value());
    CHECK(past->find("'victim' was written 1 bytes past its end") != std::string::npos);
  }
  Pool pool;
  const Buffer buffer = pool.buffers.output("victim", 64);
  write_byte<<<1, 1, 0, pool.stream.get()>>>(buffer.data, -1);
  const auto before = pool.buffers.guards_intact();
  REQUIRE(before.has_value());
  CHECK(before->find("'victim' was written 1 bytes before its start") != std::string::npos);
}

TEST_CASE("the guard band follows the end of a smaller request", "[gpu][harness]") {
  Pool pool;
  pool.buffers.output("shrinks", 1 << 20);
  const Buffer small = pool.buffers.output("shrinks", 1000);
  pool.check_guards();
  write_byte<<<1, 1, 0, pool.stream.get()>>>(small.data, 1000);
  CHECK(pool.buffers.guards_intact().has_value());
  // Asked for again it is whole again.
  pool.buffers.output("shrinks", 1 << 20);
  pool.check_guards();
}

TEST_CASE("differing bytes are counted wherever they lie", "[gpu][harness][sanitized]") {
  Pool pool;
  for (const std::size_t bytes : {1u, 15u, 16u, 17u, 4095u, 1000003u}) {
    CAPTURE(bytes);
    const Buffer a = pool.buffers.input("a", bytes);
    const Buffer b = pool.buffers.output("b", bytes);
    const auto count = [&] {
      return count_different_bytes(a.data, b.data, bytes, pool.stream.get());
    };
    const auto copy = [&] {
      FATHOM_CUDA(
          cudaMemcpyAsync(b.data, a.data, bytes, cudaMemcpyDeviceToDevice, pool.stream.get()));
    };
    copy();
    CHECK(count() == 0);
    for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1}) {
      copy();
      // Any other value differs.
      const std::byte original = test::to_host<std::byte>(a.data + at, 1)[0];
      const int other = static_cast<int>(original) ^ 0x10;
      pool.set(b.data + at, other, 1);
      CHECK(count() == 1);
    }
  }
  // Ranges that begin between words.
  const Buffer a = pool.buffers.input("a", 5000), b = pool.buffers.output("b", 5000);
  FATHOM_CUDA(
      cudaMemcpyAsync(b.data + 3, a.data + 1, 4001, cudaMemcpyDeviceToDevice, pool.stream.get()));
  CHECK(count_different_bytes(a.data + 1, b.data + 3, 4001, pool.stream.get()) == 0);
}

TEST_CASE("a capture that fails leaves the stream as it was", "[gpu][harness]") {
  Pool pool;
  const Buffer out = pool.buffers.output("out", 1);
  const auto write = [&] { write_byte<<<1, 1, 0, pool.stream.get()>>>(out.data, 0); };
  const auto fail = [&] {
    write();
    throw std::runtime_error("on purpose");
  };
  CHECK_THROWS_AS(capture_graph(fail, pool.stream.get()), std::runtime_error);
  write();
  CHECK(cudaStreamSynchronize(pool.stream.get()) == cudaSuccess);
}

TEST_CASE("inputs are random, the same for the same seed and role", "[gpu][harness]") {
  Pool one, two;
  constexpr std::size_t bytes = 1 << 20;
  const Buffer a = one.buffers.input("src", bytes), b = two.buffers.input("src", bytes);
  const Buffer c = two.buffers.input("other", bytes);
  FATHOM_CUDA(cudaDeviceSynchronize());
  CHECK(count_different_bytes(a.data, b.data, bytes, one.stream.get()) == 0);
  // One in 256 bytes is equal by chance.
  CHECK(count_different_bytes(a.data, c.data, bytes, one.stream.get()) > bytes * 0.99);
  const Buffer floats = one.buffers.input("floats", bytes, Fill::uniform_float);
  double sum = 0, squares = 0;
  bool in_range = true;
  for (const float x : test::to_host<float>(floats.data, bytes / 4)) {
    in_range = in_range && x >= -1 && x <= 1;
    sum += x;
    squares += double{x} * x;
  }
  CHECK(in_range);
  const double n = bytes / 4.0;
  CHECK(std::abs(sum / n) < 5 / std::sqrt(3 * n));  // five standard deviations of the mean
  CHECK(std::abs(squares / n - 1.0 / 3) < 0.01);
}

TEST_CASE("fills of every kind write all of a buffer and nothing else",
          "[gpu][harness][sanitized]") {
  Pool pool;
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
  Pool pool;
  const Buffer data =
      pool.buffers.input("data", std::size_t{8} << 20);  // every thread has elements
  const Buffer sink = pool.poisoned("sink", sizeof(int));
  launch_read_all(data.data, data.bytes, sink.as<int>(), pool.stream.get());
  CHECK(pool.read<int>(sink)[0] == -1);
  pool.check_guards();
}

TEST_CASE("stamps are of SMs that there are, and of no other place", "[gpu][harness][sanitized]") {
  Pool pool;
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
