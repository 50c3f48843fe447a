#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

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
template <class T, class F>
Words by_element(const Words& a, const Words& b, F&& f) {
  using Elements = std::array<T, sizeof(Words) / sizeof(T)>;
  auto x = std::bit_cast<Elements>(a);
  const auto y = std::bit_cast<Elements>(b);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = f(x[i], y[i]);
  return std::bit_cast<Words>(x);
}

/// `f` of the numbers that the words of a type are. Halves are computed with in float and rounded
/// to nearest even, as the instructions' definition says.
template <class F>
Words by_type(Type type, const Words& a, const Words& b, F&& f) {
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
      return by_element<__half_raw>(a, b, [&](__half_raw x, __half_raw y) {
        return __half_raw(__float2half_rn(f(__half2float(__half(x)), __half2float(__half(y)))));
      });
    case Type::bf16x2:
      return by_element<__nv_bfloat16_raw>(a, b, [&](__nv_bfloat16_raw x, __nv_bfloat16_raw y) {
        return __nv_bfloat16_raw(__float2bfloat16_rn(
            f(__bfloat162float(__nv_bfloat16(x)), __bfloat162float(__nv_bfloat16(y)))));
      });
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
    case Operation::exchange:
    case Operation::compare_swap:  // compares with what it stores
      return operand;
  }
  return value;
}

/// The value after `count` operations, and the words of all values before each, added up.
struct Chain {
  Words value;
  std::uint32_t returned = 0;
};

Chain run_chain(const Instruction& instruction, std::uint64_t count) {
  const Words operand = operand_of(instruction.operation, instruction.type);
  const int words = instruction.value_bytes() / 4;
  Chain chain{};
  std::fill_n(chain.value.begin(), words, start_of(instruction.operation));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint32_t folded = 0;
    for (int w = 0; w < words; ++w) folded += chain.value[w];
    Words next = step(instruction.operation, instruction.type, chain.value, operand);
    if (next == chain.value) {  // so are all that follow
      chain.returned += static_cast<std::uint32_t>((count - i) * folded);
      break;
    }
    chain.returned += folded;
    chain.value = next;
  }
  return chain;
}

}  // namespace

Words operand_of(Operation operation, Type type) {
  const auto one = std::bit_cast<std::uint32_t>(1.0f);
  const std::uint32_t start = start_of(operation);
  // In the orders of Type and of Operation.
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
  const std::uint64_t visits = warps * iterations;
  const std::uint64_t lanes = pattern.lane_bytes == 0 ? pattern.active_lanes : 1;
  const std::uint64_t addresses = pattern.lane_bytes == 0 ? 1 : pattern.active_lanes;
  const Chain chain = run_chain(instruction, visits / pattern.slots * lanes);
  const bool uneven = visits % pattern.slots != 0;
  const Chain longer =
      uneven ? run_chain(instruction, (visits / pattern.slots + 1) * lanes) : chain;
  const auto with_more = static_cast<std::uint32_t>(visits % pattern.slots);
  return {chain.value, longer.value, with_more,
          static_cast<std::uint32_t>(addresses *
                                     ((pattern.slots - with_more) * std::uint64_t{chain.returned} +
                                      with_more * std::uint64_t{longer.returned}))};
}

}  // namespace fathom::atomics
