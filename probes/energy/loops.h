#pragma once

#include <array>
#include <string_view>

namespace fathom::energy {

// What the sweep runs and the conclusions speak of, by the ids of cases and facts.

/// What the work of a loop is counted in.
struct Per {
  const char* axis;      ///< "byte"
  const char* unit;      ///< of the energy: "J/B"
  const char* quantity;  ///< in a fact's id: "energy_per_byte"
};
inline constexpr Per per_byte{"byte", "J/B", "energy_per_byte"},
    per_flop{"FLOP", "J/FLOP", "energy_per_flop"},
    per_operation{"operation", "J/op", "energy_per_operation"};

struct MemoryLoop {
  const char* id;       ///< of the fact: "l1"; of DRAM's stores "dram_write"
  const char* subject;  ///< as a reader knows it
  const char* what;     ///< how the bytes are moved, for the fact's method
  bool quick = false;
};
inline constexpr MemoryLoop memory_loops[] = {
    {"shared", "shared memory", "16-byte loads without bank conflicts (ld.shared.v4)"},
    {"l1", "L1", "16-byte loads of 32 KiB by all blocks of an SM (ld.global.v4)"},
    {"l2", "L2", "16-byte loads past the L1 of a set that the L2 holds (ld.global.cg.v4)"},
    {"dram", "DRAM", "16-byte loads of gigabytes of random bits, each once a launch", true},
    {"dram_write", "DRAM, stores", "16-byte stores to gigabytes, each place once a launch"}};

/// Arithmetic; of several instructions that do the same, the first one that the chip has. The ids
/// are those of probes/instructions.
struct InstructionLoop {
  const char* id;       ///< of the fact: "ffma", "tensor_f16"
  const char* subject;  ///< where none was measured
  Per per;              ///< a multiply-add is two of them
  std::array<std::string_view, 2> instructions;
  bool quick = false;
};
inline constexpr InstructionLoop instruction_loops[] = {
    {"ffma", "FFMA", per_flop, {"ffma"}, true},
    {"hfma2", "HFMA2", per_flop, {"hfma2"}},
    {"dfma", "DFMA", per_flop, {"dfma"}},
    {"imad", "IMAD", per_operation, {"imad"}},
    {"tensor_f16", "tensor cores, fp16", per_flop, {"wgmma_f16_n256_shared", "mma_f16_k16"}, true},
    {"tensor_bf16", "tensor cores, bf16", per_flop, {"wgmma_bf16_n256_shared", "mma_bf16_k16"}},
    {"tensor_tf32", "tensor cores, tf32", per_flop, {"wgmma_tf32_n256_shared", "mma_tf32_k8"}},
    {"tensor_fp8", "tensor cores, fp8", per_flop, {"wgmma_e4m3_n256_shared", "mma_e4m3_k32"}},
    {"tensor_int8", "tensor cores, int8", per_operation, {"wgmma_s8_n256_shared", "mma_s8_k32"}},
    {"tensor_f64", "tensor cores, fp64", per_flop, {"mma_f64_k16", "mma_f64_k4"}},
};

/// The GPU with nothing to do, and with threads that are there and sleep.
inline constexpr const char *idle_id = "idle", *active_idle_id = "active_idle";

/// Extras of a loop's entry: joules per unit of work that the active idle would have taken in the
/// same time, and what is left of the metric without them, in picojoules.
inline constexpr const char *base_extra = "base_energy_j", *net_extra = "net_energy_pj";

}  // namespace fathom::energy
