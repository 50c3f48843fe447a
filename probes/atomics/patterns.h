#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fathom::atomics {

// What the cases and the conclusion know about the atomics, and the host's reckoning of what they
// must leave behind. No CUDA calls.

enum class Level { l2, shared, cluster };

/// Which addresses the threads use. Memory is a window of `slots` slots; warp w of W takes slot
/// (w + i W) mod slots in its i-th atomic, and its lane l the word `lane_bytes` l into the slot.
struct Pattern {
  std::uint32_t slots = 1;
  std::uint32_t slot_bytes = 128;
  std::uint32_t lane_bytes = 0;     ///< 0: all lanes of a warp use one address
  std::uint32_t active_lanes = 32;  ///< of each warp; the others do nothing
  std::uint64_t window_bytes() const { return std::uint64_t{slots} * slot_bytes; }
};

using Words = std::array<std::uint32_t, 4>;

enum class Scope { cta, cluster, gpu, sys };
enum class Operation { add, min, max, bit_and, exchange, compare_swap };
enum class Type { u32, s32, u64, b128, f32, f64, f16x2, bf16x2, f32x4 };

/// "L2", "shared", "distributed shared"
constexpr const char* name_of(Level level) {
  constexpr const char* names[] = {"L2", "shared", "distributed shared"};
  return names[static_cast<int>(level)];
}
constexpr const char* name_of(Scope scope) {
  constexpr const char* names[] = {"cta", "cluster", "gpu", "sys"};
  return names[static_cast<int>(scope)];
}
constexpr const char* name_of(Operation operation) {
  constexpr const char* names[] = {"add", "min", "max", "and", "exch", "cas"};
  return names[static_cast<int>(operation)];
}
constexpr const char* name_of(Type type) {
  constexpr const char* names[] = {"u32", "s32",   "u64",    "b128", "f32",
                                   "f64", "f16x2", "bf16x2", "f32x4"};
  return names[static_cast<int>(type)];
}

/// Known as inline PTX is compiled.
struct Text {
  char characters[48] = {};
  std::size_t size = 0;
};

struct Instruction {
  Level level;
  bool returns;  ///< atom, which returns what was there; else red, which returns nothing
  Scope scope;
  Operation operation;
  Type type;
  int since = 75;  ///< compute capability, times ten, of the first chip that has it
  bool quick = false;
  friend constexpr bool operator==(const Instruction&, const Instruction&) = default;

  constexpr const char* form() const { return returns ? "atom" : "red"; }
  constexpr int value_bytes() const {
    constexpr int bytes[] = {4, 4, 8, 16, 4, 8, 4, 4, 16};
    return bytes[static_cast<int>(type)];
  }
  /// What follows the form, without memory order: "gpu.global.add.noftz.f16x2".
  constexpr Text words() const {
    constexpr const char* spaces[] = {"global", "shared", "shared::cluster"};
    const bool bits = operation == Operation::bit_and || operation == Operation::exchange ||
                      operation == Operation::compare_swap;
    const bool halves = type == Type::f16x2 || type == Type::bf16x2, vector = type == Type::f32x4;
    const char* of_type = vector                      ? "f32"
                          : bits && type == Type::u32 ? "b32"
                          : bits && type == Type::u64 ? "b64"
                                                      : name_of(type);
    const char* before_type = halves ? ".noftz." : vector ? ".v4." : ".";
    Text text;
    for (const char* part : {name_of(scope), ".", spaces[static_cast<int>(level)], ".",
                             name_of(operation), before_type, of_type})
      while (*part != '\0') text.characters[text.size++] = *part++;
    return text;
  }
  /// Without memory order: "atom.gpu.global.add.u32", "red.cta.shared.add.u32".
  std::string ptx() const { return std::string(form()) + "." + words().characters; }
};

/// Each has a kernel.
inline constexpr auto all_instructions = [] {
  using enum Level;
  using enum Operation;
  using enum Type;
  std::array<Instruction, 53> rows{};
  std::size_t count = 0;
  const auto row = [&](bool returns, Level level, Scope scope, Operation operation, Type type,
                       int since = 75, bool quick = false) {
    rows[count++] = {level, returns, scope, operation, type, since, quick};
  };
  const auto atom = [&](auto... of) { row(true, of...); };
  const auto red = [&](auto... of) { row(false, of...); };
  const auto both = [&](auto... of) {
    atom(of...);
    red(of...);
  };
  both(l2, Scope::gpu, add, u32, 75, true);
  both(l2, Scope::cta, add, u32);
  both(l2, Scope::sys, add, u32);
  both(l2, Scope::gpu, add, s32);
  both(l2, Scope::gpu, add, u64);
  both(l2, Scope::gpu, add, f32, 75, true);
  both(l2, Scope::gpu, add, f64);
  both(l2, Scope::gpu, add, f16x2);
  both(l2, Scope::gpu, add, bf16x2, 90);
  red(l2, Scope::gpu, add, f32x4, 90);
  both(l2, Scope::gpu, max, u32);
  both(l2, Scope::gpu, min, s32);
  both(l2, Scope::gpu, max, u64);
  both(l2, Scope::gpu, bit_and, u32);
  atom(l2, Scope::gpu, exchange, u32);
  atom(l2, Scope::gpu, exchange, u64);
  atom(l2, Scope::gpu, exchange, b128, 90);
  atom(l2, Scope::gpu, compare_swap, u32, 75, true);
  atom(l2, Scope::gpu, compare_swap, u64);
  atom(l2, Scope::gpu, compare_swap, b128, 90);
  both(shared, Scope::cta, add, u32, 75, true);
  both(shared, Scope::cta, add, u64);
  both(shared, Scope::cta, add, f32);
  both(shared, Scope::cta, add, f64);
  both(shared, Scope::cta, add, f16x2);
  atom(shared, Scope::cta, max, u32);
  atom(shared, Scope::cta, min, s32);
  atom(shared, Scope::cta, bit_and, u32);
  atom(shared, Scope::cta, exchange, u32);
  atom(shared, Scope::cta, compare_swap, u32, 75, true);
  atom(shared, Scope::cta, compare_swap, u64);
  both(cluster, Scope::cluster, add, u32, 90, true);
  atom(cluster, Scope::cluster, exchange, u32, 90);
  atom(cluster, Scope::cluster, compare_swap, u32, 90);
  return rows;
}();

// Names that the cases give their axes' values, and the conclusion finds them by.

inline constexpr const char* one_address = "one address";
inline constexpr const char* address_a_warp = "one address a warp";
inline constexpr const char* one_line = "the words of one line";
inline constexpr const char* own_words = "own words";  ///< of neighbours in a warp, side by side
inline constexpr const char* sweeping_lines = "a line a warp";
inline constexpr const char* sector_a_lane = "a sector a lane";
inline constexpr const char* line_a_lane = "a line a lane";

/// Those with a case of one address: additions by type, and the others of u32.
inline bool asked_of_one_address(const Instruction& i) {
  const bool usual_scope = i.level != Level::l2 || i.scope == Scope::gpu;
  const bool simple = i.type != Type::b128 && i.type != Type::f32x4 && i.type != Type::s32;
  return usual_scope && simple && (i.operation == Operation::add || i.type == Type::u32);
}

/// The operand of every atomic, and each word of the memory before the first.
Words operand_of(Operation operation, Type type);
std::uint32_t start_of(Operation operation);

/// What the memory must hold after a launch. The first `slots_with_more` slots were visited once
/// more than the others, and all values of a slot alike.
struct Expected {
  Words value, value_with_more;
  std::uint32_t slots_with_more = 0;
  /// The words of everything that the atomics of one region returned, added up modulo 2^32.
  std::uint32_t sum_of_returns = 0;
};

/// Runs the operation as often as the pattern does, one after the other: all operands are equal, so
/// the order does not matter. `warps` share a window; each lane makes `iterations` atomics.
Expected expect(const Instruction& instruction, const Pattern& pattern, std::uint64_t warps,
                std::uint64_t iterations);

}  // namespace fathom::atomics
