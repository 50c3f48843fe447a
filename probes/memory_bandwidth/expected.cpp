#include <cmath>

#include "probes/memory_bandwidth/kernels.h"

// What launches through shared memory and registers must leave behind.

namespace fathom::memory_bandwidth {
namespace {

/// A chain multiplies by a factor and by its inverse in turn, and adds terms that cancel.
constexpr float factors[] = {1.5f, 2.0f / 3}, terms[] = {0.375f, -0.25f};

}  // namespace

std::uint32_t expected_sum() {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < shared_bytes_used / 4; ++i) sum += shared_word(i);
  return sum;
}

std::vector<std::uint32_t> expected_words(Operation operation, int bytes_of_lane) {
  constexpr std::uint32_t words_used = shared_bytes_used / 4;
  std::vector<std::uint32_t> words(words_used);
  const auto width = static_cast<std::uint32_t>(bytes_of_lane);
  for (std::uint32_t i = 0; i < words_used; ++i) {
    if (operation != Operation::store) {
      words[i] = shared_word(operation == Operation::copy ? i % (words_used / 2) : i);
      continue;
    }
    const std::uint32_t offset = i * 4;
    const std::uint32_t warp = offset / (shared_bytes_used / shared_warps);
    const std::uint32_t lane = offset % (width * warp_lanes) / width;
    words[i] = store_value(warp * warp_lanes + lane, offset % width / 4);
  }
  return words;
}

std::vector<float> register_operands() {
  std::vector<float> operands;
  for (int chain = 0; chain < register_chains; ++chain)
    for (const float value : {factors[0], factors[1], terms[0], terms[1]})
      operands.insert(operands.end(), warp_lanes, value);
  return operands;
}

std::vector<float> expected_chains(int iterations) {
  std::vector<float> result;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int chain = 0; chain < register_chains; ++chain) {
      float x = register_start(lane, chain);
      for (int step = 0; step < iterations * register_steps; ++step)
        x = std::fma(x, factors[step % 2], terms[step % 2]);
      result.push_back(x);
    }
  }
  return result;
}

}  // namespace fathom::memory_bandwidth
