#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "harness/cuda_check.h"
#include "probes/copy_bandwidth/kernels.h"
#include "probes/energy/cases.h"
#include "probes/energy/kernels.h"

// Loads, and stores, that each level answers again and again. Data are random bits throughout.

namespace fathom::energy {
namespace {

/// A launch of about a millisecond on an H200, so that the gaps between launches do not count.
constexpr int turns_inside_sm = 2000, turns_l2 = 500;
/// Far above any L2, so that nearly nothing of one launch is found there by the next.
constexpr std::size_t dram_bytes = std::size_t{4} << 30;
constexpr int dram_threads = 256;

/// Sums of the words of each chunk.
std::vector<std::uint32_t> chunk_sums(const Buffer& data, cudaStream_t stream) {
  const auto words = copy_to_host<std::uint32_t>(data, stream);
  constexpr std::size_t per_chunk = chunk_bytes / 4;
  std::vector<std::uint32_t> sums(words.size() / per_chunk, 0);
  for (std::size_t i = 0; i < words.size(); ++i) sums[i / per_chunk] += words[i];
  return sums;
}

Workload walk_workload(Context& context, Level level, std::uint32_t chunks, int turns, int blocks) {
  cudaStream_t stream = context.stream();
  const Buffer data = context.buffers().input("walked", chunks * chunk_bytes, Fill::random_bits);
  const Buffer sums = context.buffers().output("sums", blocks * sizeof(std::uint32_t));
  const Walk walk{data.data, chunks, turns, sums.as<std::uint32_t>()};
  const std::vector<std::uint32_t> expected = chunk_sums(data, stream);
  Workload workload;
  workload.launch = [=] { launch_walk(level, walk, blocks, stream); };
  workload.poison = poisoning(context, {sums});
  workload.verify = [=]() -> std::optional<std::string> {
    const auto found = copy_to_host<std::uint32_t>(sums, stream);
    for (std::uint32_t block = 0; block < found.size(); ++block) {
      const std::uint32_t want = expected_sum(expected, block, turns);
      if (found[block] != want) {
        return fmt::format("the sum of block {} is {:#x} instead of {:#x}", block, found[block],
                           want);
      }
    }
    return std::nullopt;
  };
  return workload;
}

Case walk_case(const DeviceFacts& device, const MemoryLoop& loop, Level level, std::uint32_t chunks,
               int turns, const Baseline& baseline) {
  const int blocks = device.sms * walk_blocks_per_sm(level);
  const double bytes = static_cast<double>(chunk_bytes) * turns * blocks;
  Case c = loop_case("memory", loop.id, loop.subject, Per::byte, bytes, baseline);
  c.prepare = [=](Context& context) { return walk_workload(context, level, chunks, turns, blocks); };
  if (level != Level::shared) c.counters.push_back({"l1_hit_rate", std::nullopt, 0, ""});
  if (level == Level::l2) c.counters.push_back({"l2_hit_rate", std::nullopt, 0, ""});
  return c;
}

/// The largest power of two of chunks within a quarter of the L2, or of one of its partitions where there are
/// several: all SMs find it there.
std::uint32_t l2_chunks(const DeviceFacts& device) {
  const std::size_t quarter = std::max<std::size_t>(device.l2_bytes / 4, 2 * chunk_bytes);
  return static_cast<std::uint32_t>(std::bit_floor(quarter / chunk_bytes));
}

Case dram_case(const DeviceFacts& device, const MemoryLoop& loop, copy_bandwidth::Mix mix,
               const Baseline& baseline) {
  using copy_bandwidth::MixRun;
  constexpr std::size_t unit = copy_bandwidth::read_bytes_per_fold * 8;
  const std::size_t bytes = std::min(dram_bytes, device.memory_bytes / 8 / unit * unit);
  const bool reads = mix == copy_bandwidth::Mix::read;
  Case c = loop_case("memory", loop.id, loop.subject, Per::byte, static_cast<double>(bytes),
                     baseline);
  c.suite = quick_if(loop.quick);
  c.counters = {{reads ? "dram_read_bytes" : "dram_write_bytes", std::nullopt, 0, ""},
                {"l2_hit_rate", std::nullopt, 0, ""}};
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    MixRun run{.bytes = bytes, .threads = dram_threads};
    if (reads) run.a = context.buffers().input("src", bytes, Fill::random_bits).data;
    const Buffer out = context.buffers().output(
        reads ? "folds" : "dst", reads ? bytes / copy_bandwidth::read_bytes_per_fold * 4 : bytes);
    const Buffer wrong = context.buffers().output("count of wrong", sizeof(unsigned long long));
    run.out = out.data;
    constexpr auto type = copy_bandwidth::ElementType::float32;  // which means nothing to these two
    Workload workload;
    workload.launch = [=] { copy_bandwidth::launch_mix(mix, type, run, stream); };
    workload.poison = poisoning(context, {out});
    workload.verify = [=]() -> std::optional<std::string> {
      FATHOM_CUDA(cudaMemsetAsync(wrong.data, 0, wrong.bytes, stream));
      copy_bandwidth::launch_check_mix(mix, type, run, wrong.as<unsigned long long>(), stream);
      const auto count = copy_to_host<unsigned long long>(wrong, stream)[0];
      if (count == 0) return std::nullopt;
      return fmt::format("{} elements of the output are wrong", count);
    };
    return workload;
  };
  return c;
}

}  // namespace

std::vector<Case> memory_cases(const DeviceFacts& device, const Baseline& baseline) {
  return {walk_case(device, shared_loop, Level::shared, shared_chunks, turns_inside_sm, baseline),
          walk_case(device, l1_loop, Level::l1, 2, turns_inside_sm, baseline),
          walk_case(device, l2_loop, Level::l2, l2_chunks(device), turns_l2, baseline),
          dram_case(device, dram_loop, copy_bandwidth::Mix::read, baseline),
          dram_case(device, dram_write_loop, copy_bandwidth::Mix::write, baseline)};
}

}  // namespace fathom::energy
