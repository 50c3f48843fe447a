#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

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

enum class Operation { add, min, max, bit_and, exchange, compare_swap };
enum class Type { u32, s32, u64, b128, f32, f64, f16x2, bf16x2, f32x4 };

/// One instruction of the sweep.
struct Instruction {
  Level level;
  bool returns;  ///< atom, which returns what was there; else red, which returns nothing
  const char* scope;
  Operation operation;
  Type type;
  int since;  ///< compute capability, times ten, of the first chip that has it
  bool quick = false;

  std::string ptx() const;   ///< as `Kernel::ptx`
  std::string form() const;  ///< "atom" or "red"
  int value_bytes() const;
};

// Names that the cases give their axes' values, and the conclusion finds them by.

inline constexpr const char* one_address = "one address";
inline constexpr const char* address_a_warp = "one address a warp";
inline constexpr const char* one_line = "the words of one line";
inline constexpr const char* own_words =
    "own words";  ///< neighbours in a warp, no two threads share
inline constexpr const char* sweeping_lines = "a line a warp";
inline constexpr const char* sector_a_lane = "a sector a lane";
inline constexpr const char* line_a_lane = "a line a lane";

/// Every instruction with a kernel.
const std::vector<Instruction>& all_instructions();
/// Those with a case of one address: additions by type, and the others of u32.
bool asked_of_one_address(const Instruction& i);

const char* name_of(Operation operation);  ///< "add", ..., "exch", "cas"
const char* name_of(Type type);            ///< "u32", "f32x4", ...
const char* name_of(Level level);          ///< "L2", "shared", "distributed shared"

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
