// gemm_stream_patterns: how fast a matrix is read from memory in different orders and by different
// means, at the bytes of the large operand of a skinny product. Every word that arrives is added
// up, and the sum held against what it must be.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <regex>
#include <thread>
#include <vector>

#include "gemm/tuning/stream_patterns.h"
#include "harness/cuda_handles.h"
#include "harness/device_facts.h"
#include "results/error.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

std::vector<StreamPattern> patterns() {
  using enum StreamMeans;
  std::vector<StreamPattern> list{
      {"empty kernel", empty, 1, 4},
      {"empty kernel, early", empty, 1, 4},
      {"loads of 16 bytes, 4 blocks an SM", loads},
      {"loads of 16 bytes, 4 blocks an SM, evict first", loads},
  };
  list[1].early = true;
  list[2].per_sm = list[3].per_sm = 4;
  list[3].evict_first = true;
  const auto add = [&](const std::string& name, StreamPattern p) {
    p.name = name;
    list.push_back(std::move(p));
  };
  // What the products' kernels do: boxes along k.
  StreamPattern box{.means = boxes, .rows = 64, .run_bytes = 256};
  for (const int rows : {16, 64, 128, 256}) {
    box.rows = rows;
    box.run_bytes = std::max(128, 16384 / rows);
    add(fmt::format("boxes of {} x 128, {} a stage", rows, box.run_bytes / 128), box);
  }
  for (const int blocks : {64, 128, 256}) {
    StreamPattern p{.means = boxes, .rows = 64, .run_bytes = 256, .blocks = blocks};
    p.per_sm = blocks == 256 ? 2 : 1;
    add(fmt::format("boxes of 64 x 128, 2 a stage, {} blocks", blocks), p);
  }
  // Stages of 16 KiB in runs of 1 to 8 KiB.
  for (const int run : {1, 2, 4, 8})
    add(fmt::format("{} runs of {} KiB", 16 / run, run),
        {.rows = 16 / run, .run_bytes = run * 1024});
  // As the streamed products have it: 16 rows of a slab.
  const StreamPattern slabs{.rows = 16, .run_bytes = 1024, .slab_bytes = 4096};
  for (const int in_flight : {32, 64, 96, 128, 192}) {
    StreamPattern p = slabs;
    p.in_flight = in_flight;
    add(fmt::format("16 runs of 1 KiB, slabs of 4 KiB, {} KiB an SM", in_flight), p);
  }
  StreamPattern longer = slabs;
  longer.run_bytes = 2048;
  longer.in_flight = 192;
  add("16 runs of 2 KiB, slabs of 4 KiB, 192 KiB an SM", longer);
  longer.gap_bytes = 64;
  add("16 runs of 2 KiB, slabs of 4 KiB, 192 KiB an SM, 64 bytes apart", longer);
  for (const bool early : {false, true}) {
    for (const bool evict_first : {false, true}) {
      StreamPattern p = slabs;
      p.in_flight = 96;
      p.early = early;
      p.evict_first = evict_first;
      if (early || evict_first)
        add(fmt::format("16 runs of 1 KiB, slabs of 4 KiB, 96 KiB an SM{}{}",
                        early ? ", early" : "", evict_first ? ", evict first" : ""),
            p);
    }
  }
  StreamPattern prefetching = slabs;
  prefetching.in_flight = 96;
  prefetching.early = prefetching.prefetches = true;
  add("16 runs of 1 KiB, slabs of 4 KiB, 96 KiB an SM, early, prefetching", prefetching);
  StreamPattern pairs = slabs;
  pairs.in_flight = 192;
  pairs.per_sm = 2;
  add("16 runs of 1 KiB, slabs of 4 KiB, 2 blocks of 96 KiB an SM", pairs);
  for (const int sms : {120, 112, 96}) {
    StreamPattern p = slabs;
    p.in_flight = 192;
    p.blocks = sms;
    add(fmt::format("16 runs of 1 KiB, slabs of 4 KiB, 192 KiB an SM, {} blocks", sms), p);
  }
  return list;
}

/// Sum of the first `words` words of a matrix.
std::uint32_t sum_of_words(std::uint64_t words) {
  return static_cast<std::uint32_t>(words * (words - 1) / 2) * stream_word(1);
}

struct Reading {
  double seconds = 0;  ///< of a launch: the median over bursts of ten
  bool right = false;
};

Reading read(const StreamPattern& pattern, const StreamMatrix& matrix, int rounds, int sms,
             cudaStream_t stream) {
  constexpr int burst = 10, warm = 2;
  const DeviceMemory<std::uint32_t> sum = make_device_memory<std::uint32_t>(1);
  FATHOM_CUDA(cudaMemsetAsync(sum.get(), 0, sizeof(std::uint32_t), stream));
  const Event start = make_event(), end = make_event();
  const auto launch = [&] { launch_stream(pattern, matrix, sum.get(), sms, stream); };
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < warm; ++i) launch();
    FATHOM_CUDA(cudaEventRecord(start.get(), stream));
    for (int i = 0; i < burst; ++i) launch();
    FATHOM_CUDA(cudaEventRecord(end.get(), stream));
    FATHOM_CUDA(cudaEventSynchronize(end.get()));
    float milliseconds = 0;
    FATHOM_CUDA(cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
    seconds.push_back(milliseconds * 1e-3 / burst);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::uint32_t found = 0;
  FATHOM_CUDA(cudaMemcpy(&found, sum.get(), sizeof found, cudaMemcpyDeviceToHost));
  const std::uint32_t launches = static_cast<std::uint32_t>(rounds * (burst + warm));
  const std::uint32_t expected =
      pattern.means == StreamMeans::empty ? 0 : launches * sum_of_words(matrix.bytes() / 4);
  return {median(seconds), found == expected};
}

int run(int argc, char** argv) {
  CLI::App app("Times reading a matrix in different orders and by different means.");
  std::vector<std::size_t> sizes{64, 128, 256, 512};
  int rows = 8192, rounds = 7;
  std::string filter = ".";
  app.add_option("--mib", sizes, "sizes of the matrix in MiB")->check(CLI::Range(1, 16384));
  app.add_option("--rows", rows, "rows of the matrix")->check(CLI::Range(1, 1 << 20));
  app.add_option("--rounds", rounds, "bursts of each")->check(CLI::Range(1, 1000));
  app.add_option("--filter", filter, "regular expression of patterns' names");
  CLI11_PARSE(app, argc, argv);
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  const std::size_t largest = *std::ranges::max_element(sizes) * mib;
  const DeviceMemory<std::byte> data = make_device_memory<std::byte>(largest);
  fill_stream_matrix(data.get(), largest, stream.get());
  fmt::print("{:72}", fmt::format("{} rows; us, TB/s", rows));
  for (const std::size_t size : sizes) fmt::print(" {:>15}", fmt::format("{} MiB", size));
  fmt::print("\n");
  bool right = true;
  for (const StreamPattern& pattern : patterns()) {
    if (!std::regex_search(pattern.name, std::regex(filter))) continue;
    fmt::print("{:72}", pattern.name);
    for (const std::size_t size : sizes) {
      const StreamMatrix matrix{data.get(), rows, static_cast<int>(size * mib / rows)};
      if (size * mib % rows != 0 || !fits(pattern, matrix)) {
        fmt::print(" {:>15}", "-");
        continue;
      }
      const Reading reading = read(pattern, matrix, rounds, facts.sms, stream.get());
      right = right && reading.right;
      const double rate =
          pattern.means == StreamMeans::empty ? 0 : matrix.bytes() / reading.seconds * 1e-12;
      fmt::print(" {:>15}", fmt::format("{:.2f} {:.3f}{}", reading.seconds * 1e6, rate,
                                        reading.right ? "" : " WRONG"));
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace fathom::gemm

int main(int argc, char** argv) try {
  return fathom::gemm::run(argc, argv);
} catch (const fathom::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return fathom::to_int(error.code());
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
