#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fathom::instructions {

// What is timed. `latency`: one chain of dependent instructions in each warp, in two loops of the
// same trip count whose bodies differ by `latency_steps` instructions: their difference has no loop
// in it. `throughput`: several independent chains in each of many warps, in one long loop.
enum class Variant { latency, throughput };

inline constexpr int warp_lanes = 32;
/// clock64 that a warp writes. Latency: before and after the short loop, before and after the long
/// one. Throughput: before and after the loop, and two zeros.
inline constexpr int clocks_per_warp = 4;

/// Pointers to device memory.
struct Run {
  const std::byte* starts;    ///< [threads][chains] State of a warp (wgmma: of a warpgroup)
  const std::byte* operands;  ///< Operands of each lane (wgmma: of the block)
  int iterations;
  long long* clocks;  ///< [blocks][warps][clocks_per_warp]
  std::byte* out;  ///< [blocks][warps][32 lanes][chains][2] State: before one last step, after it
};

/// Steps of one chain in the bodies of the loops.
struct Shape {
  int chains = 0;       ///< 0: there is no such variant
  int short_steps = 0;  ///< latency only: body of the short loop
  int steps = 0;        ///< body of the (long) loop
  void (*kernel)(Run) = nullptr;
  int total(int iterations) const { return iterations * (short_steps + steps); }
};

/// The kernels of one instruction. `op` is the name of its Op struct.
struct Kernels {
  std::string op;
  Shape latency, throughput;
  int throughput_warps;  ///< of the one block on each SM
  std::size_t state_bytes, operands_bytes;
  int start_threads;  ///< that have start values of their own: a warp or a warpgroup
  int writing_warps;  ///< the most warps of a block that write to `out`
  /// Start values of `chains` chains and operands, to be copied to the device.
  void (*fill)(int chains, std::byte* starts, std::byte* operands);
  /// Operands of random signs and mantissas (integers: bits) in place of those that `fill` made,
  /// such that even and odd steps still cancel out up to rounding: they toggle as many bits as real
  /// data do, but no host can foretell the result. Null where operands are what they always are.
  void (*randomise)(std::byte* operands);
  /// Checks what one launch wrote to `out` (host copy): each chain's last step against the
  /// reference of the instruction, and where every step is exact the whole chain against
  /// the same number of steps on the host. Empty if right, else what is wrong.
  std::string (*check)(const Shape&, int iterations, std::span<const std::byte> out);

  const Shape& shape(Variant variant) const {
    return variant == Variant::latency ? latency : throughput;
  }
};

/// Throws std::out_of_range for an instruction without kernels.
const Kernels& find_kernels(std::string_view op);

// One list for each source file of kernels.
std::span<const Kernels> arithmetic_kernels();
std::span<const Kernels> warp_kernels();
std::span<const Kernels> mma_kernels();
std::span<const Kernels> wgmma_kernels();

}  // namespace fathom::instructions
