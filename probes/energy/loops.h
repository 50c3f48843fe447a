#pragma once

#include <array>
#include <string_view>

namespace fathom::energy {

// What the sweep runs and the conclusions speak of, by the ids of cases and facts.

/// What the work of a loop is counted in.
enum class Per { byte, flop, operation };

struct PerNames {
  std::string_view axis;      ///< "byte"
  std::string_view unit;      ///< of the energy: "J/B"
  std::string_view quantity;  ///< in a fact's id: "energy_per_byte"
};
constexpr PerNames names_of(Per per) {
  switch (per) {
    case Per::byte:
      return {"byte", "J/B", "energy_per_byte"};
    case Per::flop:
      return {"FLOP", "J/FLOP", "energy_per_flop"};
    default:
      return {"operation", "J/op", "energy_per_operation"};
  }
}

struct MemoryLoop {
  std::string_view id;       ///< of the fact: "l1"; of DRAM's stores "dram_write"
  std::string_view subject;  ///< as a reader knows it
  std::string_view what;     ///< how the bytes are moved, for the fact's method
  bool quick = false;
};
inline constexpr MemoryLoop shared_loop{"shared", "shared memory",
                                        "16-byte loads without bank conflicts (ld.shared.v4)"};
inline constexpr MemoryLoop l1_loop{
    "l1", "L1", "16-byte loads of 32 KiB by all blocks of an SM (ld.global.v4)"};
inline constexpr MemoryLoop l2_loop{
    "l2", "L2", "16-byte loads past the L1 of a set that the L2 holds (ld.global.cg.v4)"};
inline constexpr MemoryLoop dram_loop{
    "dram", "DRAM", "16-byte loads of gigabytes of random bits, each once a launch", true};
inline constexpr MemoryLoop dram_write_loop{
    "dram_write", "DRAM, stores", "16-byte stores to gigabytes, each place once a launch"};
inline constexpr std::array memory_loops{shared_loop, l1_loop, l2_loop, dram_loop, dram_write_loop};

/// Arithmetic; of several instructions that do the same, the first one that the chip has. The ids
/// are those of probes/instructions.
struct InstructionLoop {
  std::string_view id;       ///< of the fact: "ffma", "tensor_f16"
  std::string_view subject;  ///< where none was measured
  Per per = Per::flop;       ///< a multiply-add is two of them
  std::array<std::string_view, 2> instructions;
  bool quick = false;
};
inline constexpr InstructionLoop instruction_loops[] = {
    {"ffma", "FFMA", Per::flop, {"ffma"}, true},
    {"hfma2", "HFMA2", Per::flop, {"hfma2"}},
    {"dfma", "DFMA", Per::flop, {"dfma"}},
    {"imad", "IMAD", Per::operation, {"imad"}},
    {"tensor_f16", "tensor cores, fp16", Per::flop, {"wgmma_f16_n256_shared", "mma_f16_k16"}, true},
    {"tensor_bf16", "tensor cores, bf16", Per::flop, {"wgmma_bf16_n256_shared", "mma_bf16_k16"}},
    {"tensor_tf32", "tensor cores, tf32", Per::flop, {"wgmma_tf32_n256_shared", "mma_tf32_k8"}},
    {"tensor_fp8", "tensor cores, fp8", Per::flop, {"wgmma_e4m3_n256_shared", "mma_e4m3_k32"}},
    {"tensor_int8", "tensor cores, int8", Per::operation, {"wgmma_s8_n256_shared", "mma_s8_k32"}},
    {"tensor_f64", "tensor cores, fp64", Per::flop, {"mma_f64_k16", "mma_f64_k4"}},
};

/// The GPU with nothing to do, and with threads that are there and sleep.
inline constexpr std::string_view idle_id = "idle", active_idle_id = "active_idle";

/// Extras of a loop's entry: joules per unit of work that the active idle would have taken in the
/// same time, and what is left of the metric without them, in picojoules.
inline constexpr const char *base_extra = "base_energy_j", *net_extra = "net_energy_pj";

}  // namespace fathom::energy
