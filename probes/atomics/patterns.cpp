#include "probes/atomics/patterns.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace fathom::atomics {
namespace {

/// The PTX suffix of an operation on a type: ".add.noftz.f16x2".
std::string ptx_operation(Operation operation, Type type) {
  const bool bits = operation == Operation::bit_and || operation == Operation::exchange ||
                    operation == Operation::compare_swap;
  std::string result = std::string(".") + name_of(operation);
  switch (type) {
    case Type::f16x2:
    case Type::bf16x2:
      return result + ".noftz." + name_of(type);
    case Type::f32x4:
      return result + ".v4.f32";
    case Type::u32:
      return result + (bits ? ".b32" : ".u32");
    case Type::u64:
      return result + (bits ? ".b64" : ".u64");
    default:
      return result + "." + name_of(type);
  }
}

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

Words add(Type type, const Words& a, const Words& b) {
  switch (type) {
    case Type::u32:
    case Type::s32:
      return to_words(a[0] + b[0]);
    case Type::u64:
      return to_words(as<std::uint64_t>(a) + as<std::uint64_t>(b));
    case Type::f32:
      return to_words(as<float>(a) + as<float>(b));
    case Type::f64:
      return to_words(as<double>(a) + as<double>(b));
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
    case Type::b128:
      break;  // has no addition
  }
  return a;
}

Words extreme(Type type, bool largest, const Words& a, const Words& b) {
  bool second;
  if (type == Type::s32) {
    second = as<std::int32_t>(b) > as<std::int32_t>(a);
  } else if (type == Type::u64) {
    second = as<std::uint64_t>(b) > as<std::uint64_t>(a);
  } else {
    second = b[0] > a[0];
  }
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

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::add:
      return "add";
    case Operation::min:
      return "min";
    case Operation::max:
      return "max";
    case Operation::bit_and:
      return "and";
    case Operation::exchange:
      return "exch";
    case Operation::compare_swap:
      return "cas";
  }
  return "";
}

const char* name_of(Type type) {
  constexpr const char* names[] = {"u32", "s32",   "u64",    "b128", "f32",
                                   "f64", "f16x2", "bf16x2", "f32x4"};
  return names[static_cast<int>(type)];
}

const char* name_of(Level level) {
  constexpr const char* names[] = {"L2", "shared", "distributed shared"};
  return names[static_cast<int>(level)];
}

std::string Instruction::form() const { return returns ? "atom" : "red"; }

std::string Instruction::ptx() const {
  constexpr const char* spaces[] = {".global", ".shared", ".shared::cluster"};
  return form() + "." + scope + spaces[static_cast<int>(level)] + ptx_operation(operation, type);
}

int Instruction::value_bytes() const {
  switch (type) {
    case Type::u64:
    case Type::f64:
      return 8;
    case Type::b128:
    case Type::f32x4:
      return 16;
    default:
      return 4;
  }
}

Words operand_of(Operation operation, Type type) {
  switch (operation) {
    case Operation::add:
      switch (type) {
        case Type::u64:
          return {1, 1};
        case Type::f32:
          return to_words(1.0f);
        case Type::f64:
          return to_words(1.0);
        case Type::f16x2:
          return {0x3C003C00u};
        case Type::bf16x2:
          return {0x3F803F80u};
        case Type::f32x4: {
          const auto one = std::bit_cast<std::uint32_t>(1.0f);
          return {one, one, one, one};
        }
        default:
          return {1};
      }
    case Operation::min:
      return to_words(std::int64_t{-5});
    case Operation::max:
      return {7, 7};
    case Operation::bit_and:
      return {0x0F0F0F0Fu, 0x0F0F0F0Fu};
    case Operation::exchange:
      return {0x5EED5EEDu, 1, 2, 3};
    case Operation::compare_swap: {
      const std::uint32_t start = start_of(operation);
      return {start, start, start, start};
    }
  }
  return {};
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
  const Chain longer = run_chain(instruction, (visits / pattern.slots + 1) * lanes);
  Expected expected;
  expected.value = chain.value;
  expected.value_with_more = longer.value;
  expected.slots_with_more = static_cast<std::uint32_t>(visits % pattern.slots);
  expected.sum_of_returns = static_cast<std::uint32_t>(
      addresses * ((pattern.slots - expected.slots_with_more) * std::uint64_t{chain.returned} +
                   expected.slots_with_more * std::uint64_t{longer.returned}));
  return expected;
}

const std::vector<Instruction>& all_instructions() {
  using enum Operation;
  using enum Type;
  static const std::vector<Instruction> all = [] {
    std::vector<Instruction> rows;
    const auto both = [&](Level level, const char* scope, Operation operation, Type type, int since,
                          bool quick) {
      rows.push_back({level, true, scope, operation, type, since, quick});
      rows.push_back({level, false, scope, operation, type, since, quick});
    };
    const auto atom = [&](Level level, const char* scope, Operation operation, Type type, int since,
                          bool quick = false) {
      rows.push_back({level, true, scope, operation, type, since, quick});
    };
    both(Level::l2, "gpu", add, u32, 75, true);
    both(Level::l2, "cta", add, u32, 75, false);
    both(Level::l2, "sys", add, u32, 75, false);
    both(Level::l2, "gpu", add, s32, 75, false);
    both(Level::l2, "gpu", add, u64, 75, false);
    both(Level::l2, "gpu", add, f32, 75, true);
    both(Level::l2, "gpu", add, f64, 75, false);
    both(Level::l2, "gpu", add, f16x2, 75, false);
    both(Level::l2, "gpu", add, bf16x2, 90, false);
    rows.push_back({Level::l2, false, "gpu", add, f32x4, 90});
    both(Level::l2, "gpu", max, u32, 75, false);
    both(Level::l2, "gpu", min, s32, 75, false);
    both(Level::l2, "gpu", max, u64, 75, false);
    both(Level::l2, "gpu", bit_and, u32, 75, false);
    atom(Level::l2, "gpu", exchange, u32, 75);
    atom(Level::l2, "gpu", exchange, u64, 75);
    atom(Level::l2, "gpu", exchange, b128, 90);
    atom(Level::l2, "gpu", compare_swap, u32, 75, true);
    atom(Level::l2, "gpu", compare_swap, u64, 75);
    atom(Level::l2, "gpu", compare_swap, b128, 90);
    both(Level::shared, "cta", add, u32, 75, true);
    both(Level::shared, "cta", add, u64, 75, false);
    both(Level::shared, "cta", add, f32, 75, false);
    both(Level::shared, "cta", add, f64, 75, false);
    both(Level::shared, "cta", add, f16x2, 75, false);
    atom(Level::shared, "cta", max, u32, 75);
    atom(Level::shared, "cta", min, s32, 75);
    atom(Level::shared, "cta", bit_and, u32, 75);
    atom(Level::shared, "cta", exchange, u32, 75);
    atom(Level::shared, "cta", compare_swap, u32, 75, true);
    atom(Level::shared, "cta", compare_swap, u64, 75);
    both(Level::cluster, "cluster", add, u32, 90, true);
    atom(Level::cluster, "cluster", exchange, u32, 90);
    atom(Level::cluster, "cluster", compare_swap, u32, 90);
    return rows;
  }();
  return all;
}

}  // namespace fathom::atomics
