#include "probes/device/launch.h"
#include "probes/links/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::links;

namespace {

struct Words : test::Pool {
  /// `words` words of one source.
  Buffer filled(const char* role, std::size_t words, std::uint32_t source) {
    const Buffer buffer = poisoned(role, words * 4);
    launch(fill, threads_for(words, word_threads, word_blocks), stream.get(),
           buffer.as<std::uint32_t>(), words, source);
    return buffer;
  }
  void copy(const void* from, void* to, std::size_t bytes, int blocks) {
    const std::size_t packs = bytes / sizeof(uint4);
    launch(copy_packs, threads_for(packs, copy_threads, blocks), stream.get(),
           static_cast<const uint4*>(from), static_cast<uint4*>(to), packs);
  }
  unsigned long long wrong(const std::uint32_t* data, std::size_t words, const Arrival& arrival) {
    const Buffer count = buffers.output("wrong", sizeof(unsigned long long));
    set(count, 0);
    launch(check, threads_for(words, word_threads, word_blocks), stream.get(), data, words, arrival,
           count.as<unsigned long long>());
    return read<unsigned long long>(count).front();
  }
};

}  // namespace

TEST_CASE("what is sent names its source and place", "[gpu][links][sanitized]") {
  Words gpu;
  constexpr std::size_t words = 5000;
  const Buffer first = gpu.filled("first", words, 0);
  const Buffer second = gpu.filled("second", words, 1);
  gpu.check_guards();
  CHECK(gpu.wrong(first.as<std::uint32_t>(), words, {0}) == 0);
  CHECK(gpu.wrong(second.as<std::uint32_t>(), words, {1}) == 0);
  CHECK(gpu.wrong(second.as<std::uint32_t>() + 77, words - 77, {1, 1, 77}) == 0);
  // Another source, or another place, is wrong nearly everywhere.
  CHECK(gpu.wrong(first.as<std::uint32_t>(), words, {1}) > words - 5);
  CHECK(gpu.wrong(first.as<std::uint32_t>() + 1, words - 1, {0}) > words - 6);
  const auto host = test::to_host<std::uint32_t>(first.data, words);
  CHECK(std::set<std::uint32_t>(host.begin(), host.end()).size() > words - 5);
  // A single wrong word is found.
  gpu.set(first.data + 4 * 4321, 0xFF, 4);
  CHECK(gpu.wrong(first.as<std::uint32_t>(), words, {0}) == 1);
}

TEST_CASE("a sum over sources is checked as one", "[gpu][links][sanitized]") {
  Words gpu;
  constexpr std::size_t words = 3000;
  const auto a = test::to_host<std::uint32_t>(gpu.filled("first", words, 2).data, words);
  const auto b = test::to_host<std::uint32_t>(gpu.filled("second", words, 3).data, words);
  std::vector<std::uint32_t> sum(words);
  for (std::size_t i = 0; i < words; ++i) sum[i] = a[i] + b[i];
  const Buffer out = gpu.Pool::filled("sum", sum);
  CHECK(gpu.wrong(out.as<std::uint32_t>(), words, {2, 2, 0}) == 0);
  CHECK(gpu.wrong(out.as<std::uint32_t>() + 100, words - 100, {2, 2, 100}) == 0);
  CHECK(gpu.wrong(out.as<std::uint32_t>(), words, {2, 1, 0}) > words - 5);
}

TEST_CASE("a copy by few blocks moves every byte, also from and to the host",
          "[gpu][links][sanitized]") {
  Words gpu;
  for (const std::size_t bytes : {16, 4096, 16 * 12345, 1 << 20}) {
    for (const int blocks : {1, 3, 1000}) {
      CAPTURE(bytes, blocks);
      const Buffer from = gpu.filled("from", bytes / 4, 5);
      const Buffer to = gpu.poisoned("to", bytes);
      gpu.copy(from.data, to.data, bytes, blocks);
      CHECK(gpu.wrong(to.as<std::uint32_t>(), bytes / 4, {5}) == 0);
      gpu.check_guards();
    }
  }
  constexpr std::size_t bytes = 65536;
  const auto host = make_pinned_memory<std::byte>(bytes);
  void* mapped = nullptr;
  FATHOM_CUDA(cudaHostGetDevicePointer(&mapped, host.get(), 0));
  const Buffer from = gpu.filled("from", bytes / 4, 6);
  const Buffer to = gpu.poisoned("to", bytes);
  gpu.copy(from.data, mapped, bytes, 4);
  gpu.copy(mapped, to.data, bytes, 4);
  CHECK(gpu.wrong(to.as<std::uint32_t>(), bytes / 4, {6}) == 0);
}

TEST_CASE("a chase goes round the ring, on whichever block works", "[gpu][links][sanitized]") {
  Words gpu;
  const Buffer lines = gpu.poisoned("lines", std::size_t{chase_lines} * chase_line_bytes);
  const Buffer end = gpu.buffers.output("end", 4);
  launch(chain, threads_for(chase_lines, word_threads), gpu.stream.get(),
         lines.as<std::uint32_t>());
  for (const int working : {0, 3}) {
    for (const auto& [first, loads] : {std::pair{0, 1}, {100, 500}, {chase_lines - 2, 5}}) {
      CAPTURE(working, first, loads);
      gpu.buffers.poison(end);
      launch(chase, {4, 1}, gpu.stream.get(), lines.as<std::uint32_t>(), first, loads, working,
             end.as<std::uint32_t>());
      CHECK(gpu.read<std::uint32_t>(end)[0] ==
            static_cast<std::uint32_t>((first + loads) % chase_lines));
      gpu.check_guards();
    }
  }
}
