#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>

#include "probes/atomics/patterns.h"

// What atomics leave behind, reckoned on the host.

namespace fathom::atomics {
namespace {

template <class T>
Words to_words(T value) {
  Words words{};
  std::memcpy(words.data(), &value, sizeof value);
  return words;
}

/// What both are as so many of `T`.
template <class T>
Words by_element(const Words& a, const Words& b, auto&& f) {
  using Elements = std::array<T, sizeof(Words) / sizeof(T)>;
  auto x = std::bit_cast<Elements>(a);
  const auto y = std::bit_cast<Elements>(b);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = f(x[i], y[i]);
  return std::bit_cast<Words>(x);
}

/// `f` of the numbers that the words of a type are. Halves are computed with in float and rounded
/// to nearest even, as the instructions' definition says.
Words by_type(Type type, const Words& a, const Words& b, auto&& f) {
  const auto in_float = [&](auto x, auto y) -> decltype(x) {
    return decltype(x)(f(static_cast<float>(x), static_cast<float>(y)));
  };
  switch (type) {
    case Type::s32:
      return by_element<std::int32_t>(a, b, f);
    case Type::u64:
      return by_element<std::uint64_t>(a, b, f);
    case Type::f32:
    case Type::f32x4:
      return by_element<float>(a, b, f);
    case Type::f64:
      return by_element<double>(a, b, f);
    case Type::f16x2:
      return by_element<__half>(a, b, in_float);
    case Type::bf16x2:
      return by_element<__nv_bfloat16>(a, b, in_float);
    default:
      return by_element<std::uint32_t>(a, b, f);
  }
}

Words step(Operation operation, Type type, const Words& value, const Words& operand) {
  switch (operation) {
    case Operation::add:
      return by_type(type, value, operand, [](auto x, auto y) { return x + y; });
    case Operation::min:
      return by_type(type, value, operand, [](auto x, auto y) { return std::min(x, y); });
    case Operation::max:
      return by_type(type, value, operand, [](auto x, auto y) { return std::max(x, y); });
    case Operation::bit_and:
      return by_element<std::uint32_t>(value, operand, std::bit_and());
    default:  // exchange; compare and swap, which compares with what it stores
      return operand;
  }
}

/// The value after `count` operations, and the words of all values before each, added up.
struct Chain {
  Words value{};
  std::uint32_t returned = 0;
};

Chain run_chain(const Instruction& instruction, std::uint64_t count) {
  const Words operand = operand_of(instruction.operation, instruction.type);
  const int words = instruction.value_bytes() / 4;
  Chain chain;
  std::fill_n(chain.value.begin(), words, start_of(instruction.operation));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t folded =
        std::accumulate(chain.value.begin(), chain.value.begin() + words, 0u);
    const Words next = step(instruction.operation, instruction.type, chain.value, operand);
    // Where nothing changes any more all that follow are the same.
    const std::uint64_t alike = next == chain.value ? count - i : 1;
    chain.returned += static_cast<std::uint32_t>(alike * folded);
    chain.value = next;
    i += alike - 1;
  }
  return chain;
}

}  // namespace

Words operand_of(Operation operation, Type type) {
  const auto one = std::bit_cast<std::uint32_t>(1.0f);
  const std::uint32_t start = start_of(operation);
  const Words ones[] = {{1},           {1},           {1, 1},
                        {1},           {one},         to_words(1.0),
                        {0x3C003C00u}, {0x3F803F80u}, {one, one, one, one}};
  const Words operands[] = {
      ones[static_cast<int>(type)], to_words(std::int64_t{-5}), {7, 7},
      {0x0F0F0F0Fu, 0x0F0F0F0Fu},   {0x5EED5EEDu, 1, 2, 3},     {start, start, start, start}};
  return operands[static_cast<int>(operation)];
}

std::uint32_t start_of(Operation operation) {
  if (operation == Operation::bit_and) return 0xFFFFFFFFu;
  // Found each time, so that the swap takes place; and unlike the sum of nothing.
  if (operation == Operation::compare_swap) return 0x5A5A5A5Au;
  return 0;
}

Expected expect(const Instruction& instruction, const Pattern& pattern, std::uint64_t warps,
                std::uint64_t iterations) {
  const bool shared = pattern.lane_bytes == 0;  // by the lanes of a warp
  const std::uint64_t lanes = shared ? pattern.active_lanes : 1;
  const std::uint64_t addresses = shared ? 1 : pattern.active_lanes;
  const std::uint64_t visits = warps * iterations / pattern.slots;  // of each slot, at least
  const auto with_more = static_cast<std::uint32_t>(warps * iterations % pattern.slots);
  const Chain chain = run_chain(instruction, visits * lanes);
  const Chain longer = with_more > 0 ? run_chain(instruction, (visits + 1) * lanes) : chain;
  const std::uint64_t returned = (pattern.slots - with_more) * std::uint64_t{chain.returned} +
                                 with_more * std::uint64_t{longer.returned};
  return {chain.value, longer.value, with_more, static_cast<std::uint32_t>(addresses * returned)};
}

}  // namespace fathom::atomics
