#include "probes/memory_bandwidth/cases.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::memory_bandwidth {
namespace {

template <class T>
T read_word(const Buffer& word, cudaStream_t stream) {
  return copy_to_host<T>(word.data, 1, stream).front();
}

/// `bytes` of random data: prefixes of one buffer up to a size and of another above it, so that a
/// curve of many sizes fills random data twice and not for each of them.
Buffer source(Context& context, std::uint64_t bytes) {
  const std::uint64_t whole =
      bytes <= BufferPool::small_bytes ? BufferPool::small_bytes : largest_region(context.device());
  return {context.buffers().input("src", std::max(bytes, whole)).data, bytes};
}

/// The sum of all 32-bit words, modulo 2^32; synchronises.
std::uint32_t sum_of(Context& context, const Buffer& data, const Buffer& word) {
  launch_sum(data.data, data.bytes / sizeof(std::uint32_t), word.as<std::uint32_t>(),
             context.stream());
  return read_word<std::uint32_t>(word, context.stream());
}

}  // namespace

std::uint64_t largest_region(const DeviceFacts& device) {
  constexpr std::uint64_t most = std::uint64_t{4} << 30;
  return std::min<std::uint64_t>(most, device.memory_bytes / 8);
}

Ends ends_of(Context& context, Operation operation, std::uint64_t bytes) {
  Ends ends;
  if (operation != Operation::store) ends.src = source(context, bytes);
  if (operation != Operation::load) ends.dst = context.buffers().output("dst", bytes);
  return ends;
}

std::function<std::optional<std::string>()> check_of(Context& context, const Access& access,
                                                     const Ends& ends, int blocks, int warps,
                                                     std::uint64_t passes,
                                                     std::function<std::uint32_t()> loaded) {
  cudaStream_t stream = context.stream();
  if (access.operation == Operation::copy)
    return [=] { return check_copied(ends.src.data, ends.dst.data, ends.dst.bytes, stream); };
  const Buffer word = context.buffers().output("word", sizeof(unsigned long long));
  if (access.operation == Operation::load) {
    const auto expected = sum_of(context, ends.src, word) * static_cast<std::uint32_t>(passes);
    return [=]() -> std::optional<std::string> {
      const std::uint32_t sum = loaded();
      if (sum == expected) return std::nullopt;
      return fmt::format("the words loaded sum to {:#x} instead of {:#x}", sum, expected);
    };
  }
  return [=]() -> std::optional<std::string> {
    launch_count_wrong(ends.dst.data, ends.dst.bytes, access, blocks, warps,
                       word.as<unsigned long long>(), stream);
    const auto wrong = read_word<unsigned long long>(word, stream);
    if (wrong == 0) return std::nullopt;
    return fmt::format("{} of {} words were not stored", wrong, ends.dst.bytes / 4);
  };
}

// What the hardware counters must say of a launch through global memory.

void count(Case& c, Operation operation, double bytes_moved, From from, bool once) {
  constexpr double sector = 32;
  const double one_way = operation == Operation::copy ? bytes_moved / 2 : bytes_moved;
  if (operation != Operation::store) {
    c.counters.push_back({"global_load_sectors", one_way / sector, 0, "bytes loaded / 32"});
    // Exact on an H200 wherever a sector is asked for once at a time; where several warps or SMs
    // ask for it at once, less is read than loaded.
    if (from != From::l1 && once)
      c.counters.push_back({"l2_read_sectors", one_way / sector, 0.001, "bytes loaded / 32"});
    else
      c.counters.push_back({"l2_read_sectors"});
  }
  if (operation != Operation::load) {
    for (const char* role : {"global_store_sectors", "l2_write_sectors"}) {
      c.counters.push_back(
          {role, one_way / sector, 0.005, "bytes stored / 32, the reports left out"});
    }
  }
  c.counters.push_back({"l1_hit_rate"});
  c.counters.push_back({"l2_hit_rate"});
  if (from != From::dram) {
    c.counters.push_back({"dram_read_bytes"});
    return;
  }
  if (operation != Operation::store)
    c.counters.push_back({"dram_read_bytes", one_way, 0.02, "every byte loaded once"});
  if (operation != Operation::load) {
    c.counters.push_back({"dram_write_bytes", one_way, 0.05,
                          "every byte stored once; the L2 may keep the last of them back"});
  }
}

}  // namespace fathom::memory_bandwidth
