#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "probes/atomics/patterns.h"

// What atomics leave behind, reckoned on the host.

namespace fathom::atomics {
namespace {

template <class T>
T as(const Words& words) {
  T value;
  std::memcpy(&value, words.data(), sizeof value);
  return value;
}

template <class T>
Words to_words(T value) {
  Words words{};
  std::memcpy(words.data(), &value, sizeof value);
  return words;
}

/// Adds the pairs of halves with `Half`'s own conversions, each rounded to nearest even as the
/// instruction's definition says.
template <class Half, class ToFloat, class FromFloat>
std::uint32_t add_halves(std::uint32_t a, std::uint32_t b, ToFloat to_float, FromFloat from_float) {
  std::uint32_t result = 0;
  for (int shift : {0, 16}) {
    const auto half = [&](std::uint32_t word) {
      const auto bits = static_cast<std::uint16_t>(word >> shift);
      return to_float(std::bit_cast<Half>(bits));
    };
    const Half sum = from_float(half(a) + half(b));
    result |= std::uint32_t{std::bit_cast<std::uint16_t>(sum)} << shift;
  }
  return result;
}

/// For the types that `run_additions` does not take.
Words add(Type type, const Words& a, const Words& b) {
  switch (type) {
    case Type::f16x2:
      return to_words(add_halves<__half_raw>(
          a[0], b[0], [](__half_raw h) { return __half2float(__half(h)); },
          [](float f) { return __half_raw(__float2half_rn(f)); }));
    case Type::bf16x2:
      return to_words(add_halves<__nv_bfloat16_raw>(
          a[0], b[0], [](__nv_bfloat16_raw h) { return __bfloat162float(__nv_bfloat16(h)); },
          [](float f) { return __nv_bfloat16_raw(__float2bfloat16_rn(f)); }));
    case Type::f32x4: {
      Words result{};
      for (int i = 0; i < 4; ++i) {
        result[i] =
            std::bit_cast<std::uint32_t>(std::bit_cast<float>(a[i]) + std::bit_cast<float>(b[i]));
      }
      return result;
    }
    default:
      throw std::logic_error(std::string("no addition of ") + name_of(type));
  }
}

Words extreme(Type type, bool largest, const Words& a, const Words& b) {
  bool second;
  if (type == Type::s32)
    second = as<std::int32_t>(b) > as<std::int32_t>(a);
  else if (type == Type::u64)
    second = as<std::uint64_t>(b) > as<std::uint64_t>(a);
  else
    second = b[0] > a[0];
  return second == largest ? b : a;
}

Words step(Operation operation, Type type, const Words& value, const Words& operand) {
  switch (operation) {
    case Operation::add:
      return add(type, value, operand);
    case Operation::min:
    case Operation::max:
      return extreme(type, operation == Operation::max, value, operand);
    case Operation::bit_and: {
      Words result{};
      for (int i = 0; i < 4; ++i) result[i] = value[i] & operand[i];
      return result;
    }
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

/// Additions of one number, from zero on: the only chains that are millions of steps long, when all
/// threads use one address.
template <class T>
Chain run_additions(T operand, std::uint64_t count) {
  Chain chain;
  T value = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if constexpr (sizeof(T) == 4) {
      chain.returned += std::bit_cast<std::uint32_t>(value);
    } else {
      const auto bits = std::bit_cast<std::uint64_t>(value);
      chain.returned += static_cast<std::uint32_t>(bits) + static_cast<std::uint32_t>(bits >> 32);
    }
    value += operand;
  }
  chain.value = to_words(value);
  return chain;
}

Chain run_chain(const Instruction& instruction, std::uint64_t count) {
  const Words operand = operand_of(instruction.operation, instruction.type);
  if (instruction.operation == Operation::add) {
    const Type type = instruction.type;
    if (type == Type::u32 || type == Type::s32) return run_additions(operand[0], count);
    if (type == Type::u64) return run_additions(as<std::uint64_t>(operand), count);
    if (type == Type::f32) return run_additions(as<float>(operand), count);
    if (type == Type::f64) return run_additions(as<double>(operand), count);
  }
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
