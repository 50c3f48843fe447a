#include "probes/memory_bandwidth/checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::memory_bandwidth {
namespace {

template <class T>
T read_word(const Buffer& word, cudaStream_t stream) {
  return copy_to_host<T>(word.data, 1, stream).front();
}

}  // namespace

std::uint64_t largest_region(const DeviceFacts& device) {
  constexpr std::uint64_t most = std::uint64_t{4} << 30;
  return std::min<std::uint64_t>(most, device.memory_bytes / 8);
}

Buffer source(Context& context, std::uint64_t bytes) {
  const std::uint64_t whole =
      bytes <= BufferPool::small_bytes ? BufferPool::small_bytes : largest_region(context.device());
  return {context.buffers().input("src", std::max(bytes, whole)).data, bytes};
}

std::uint32_t sum_of(Context& context, const Buffer& data) {
  const Buffer word = context.buffers().output("word", sizeof(unsigned long long));
  launch_sum(data.data, data.bytes / sizeof(std::uint32_t), word.as<std::uint32_t>(),
             context.stream());
  return read_word<std::uint32_t>(word, context.stream());
}

std::optional<std::string> check_sum(std::uint32_t sum, std::uint32_t expected) {
  if (sum == expected) return std::nullopt;
  return fmt::format("the words loaded sum to {:#x} instead of {:#x}", sum, expected);
}

std::optional<std::string> check_stored(const Buffer& dst, const Access& access, int blocks,
                                        int warps, const Buffer& word, cudaStream_t stream) {
  launch_count_wrong(dst.data, dst.bytes, access, blocks, warps, word.as<unsigned long long>(),
                     stream);
  const auto wrong = read_word<unsigned long long>(word, stream);
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} of {} words were not stored", wrong, dst.bytes / 4);
}

}  // namespace fathom::memory_bandwidth
