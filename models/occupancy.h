#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom::models {

/// What one SM of a compute capability holds. Sizes in bytes, registers of 32 bits. Figures are
/// from the CUDA Programming Guide 13, section 5.1 "Compute Capabilities", tables of the SM and of
/// its memory, and agree with the toolkit's cuda_occupancy.h wherever that states them.
struct SmLimits {
  int major = 0, minor = 0;
  int warps = 0;                       ///< resident
  int blocks = 0;                      ///< resident
  int shared_bytes = 0;                ///< largest carve-out
  int shared_bytes_per_block = 0;      ///< with opt-in, without the reserved part
  int shared_reserved_per_block = 0;   ///< taken by the driver: 1 KiB since 8.0
  int shared_granularity = 128;        ///< 256 on 7.x
  std::span<const int> carveouts_kib;  ///< sizes that the split with L1 can have, ascending
  /// L1 and shared memory together: "unified data cache" of the same section.
  int unified_bytes = 0;
  /// FMA a clock; Best Practices Guide 13.3, table 5, see models/instruction_throughput.h.
  int fp32_per_clock = 0;
  /// Shared by L1 and shared memory; GA102 white paper: 64 on Turing, 128 since.
  int l1_bytes_per_clock = 0;
  // The same from 7.5 to 12.1:
  int registers = 65536;  ///< a block may have them all
  int registers_per_thread = 255;
  int threads_per_block = 1024;
  int register_granularity = 256;  ///< per warp
  int partitions = 4;              ///< each with a scheduler and a quarter of the registers
};

/// Throws std::invalid_argument for a capability other than 7.5, 8.0, 8.6, 8.7, 8.8, 8.9, 9.0,
/// 10.0, 10.3, 11.0, 12.0 and 12.1.
const SmLimits& sm_limits(int major, int minor);
std::span<const SmLimits> all_sm_limits();

/// What a kernel takes. `carveout_percent` is the kernel's preferred share of shared memory,
/// cudaFuncAttributePreferredSharedMemoryCarveout; -1: the driver picks what fits most blocks.
struct KernelResources {
  int threads_per_block = 256;
  int registers_per_thread = 32;
  int static_shared_bytes = 0;
  int dynamic_shared_bytes = 0;  ///< above 48 KiB in all, opt-in is taken to have been given
  int carveout_percent = -1;
};

/// Theoretical occupancy. `blocks` is 0 where the launch would fail.
struct Occupancy {
  int blocks = 0;  ///< resident per SM
  int warps = 0;   ///< resident per SM
  double fraction = 0;
  std::string limiter;  ///< "warps", "registers", "shared memory" or "blocks": the first on a tie
  int blocks_by_warps = 0, blocks_by_blocks = 0;
  int blocks_by_registers = 0, blocks_by_shared = 0;  ///< INT_MAX where none is used
  int registers_per_block = 0;                        ///< allocated
  int shared_per_block = 0;                           ///< allocated, reserved part included
  std::string sentence;  ///< "66.7 % (32 of 48 warps), limited by warps: ..."
};

/// Follows the allocation rules of the toolkit's cuda_occupancy.h: registers by warp in units of
/// 256 within each quarter of the SM, shared memory in units of the granularity from the carve-out.
/// Throws std::invalid_argument for non-positive threads, negative or absurd amounts, static shared
/// memory above 48 KiB or a carve-out outside -1 to 100.
Occupancy occupancy(const SmLimits& sm, const KernelResources& kernel);

/// The smallest change of one resource that lets more warps be resident.
struct OccupancyStep {
  std::string resource;  ///< "registers per thread", "shared bytes per block", "threads per block"
  int now = 0;
  int needed = 0;  ///< the largest value below `now` with a higher occupancy
  Occupancy then;
  std::string sentence;  ///< "8 registers per thread fewer (72 -> 64) gives 50.0 %"
};

/// For each resource that alone can raise the occupancy, its next step; empty at 100 % or where two
/// resources would have to change at once. Blocks stay a multiple of 32 threads.
std::vector<OccupancyStep> next_occupancy_steps(const SmLimits& sm, const KernelResources& kernel);

}  // namespace fathom::models
