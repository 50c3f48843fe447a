#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom {
struct Case;
struct DeviceFacts;
}  // namespace fathom

namespace fathom::warp_reduce {

enum class Element { f32, f64, i32, f16, bf16 };

/// What a grid does with its blocks:
///  - tile: one tile a block, one atomic addition a block (claim R1's recipe)
///  - loop: one wave of blocks, each thread strides over all the input with one load in flight, one
///    atomic addition a block (R1's recipe as it is usually written)
///  - scalar_loop: the same with loads of one element
///  - dynamic: one wave of blocks that fetch tiles from a counter; the block that ends last adds up
///    the others' sums, so that nothing need be zeroed first
enum class Recipe { tile, loop, scalar_loop, dynamic };

struct SumKernel {
  Recipe recipe = Recipe::tile;
  Element element = Element::f32;
  int threads = 512;  ///< of a block: 512; float tiles 128, 256 and 1024 too; loops 256
};

/// 16-byte vectors that a thread adds per tile: two batches of four independent loads. Four loads
/// in flight a thread fill the memory system at full occupancy; more only cost registers.
inline constexpr int vectors_per_batch = 4;
inline constexpr int batches_per_tile = 2;
inline constexpr int vector_bytes = 16;

__host__ __device__ constexpr std::size_t tile_vectors(int threads) {
  return static_cast<std::size_t>(threads) * vectors_per_batch * batches_per_tile;
}

/// How `n` elements at any address split into work. Elements before the first and after the last
/// whole 16-byte vector, and vectors after the last whole tile, are the ragged rest: one block's.
struct SumLayout {
  std::size_t elements = 0;
  int head_elements = 0;    ///< before the first 16-byte boundary
  std::size_t vectors = 0;  ///< whole 16-byte vectors, those of tiles included
  std::size_t full_tiles = 0;
  std::size_t rest_vectors = 0;
  int tail_elements = 0;

  __host__ __device__ constexpr bool ragged() const {
    return head_elements + tail_elements > 0 || rest_vectors > 0;
  }
  /// Full ones and the ragged rest.
  __host__ __device__ constexpr std::size_t tiles() const {
    return full_tiles + (ragged() ? 1 : 0);
  }
};

/// `address` modulo 16 is all that matters of it; it must be a multiple of `element_bytes`.
constexpr SumLayout sum_layout(std::uintptr_t address, std::size_t n, int element_bytes,
                               int threads) {
  SumLayout layout;
  layout.elements = n;
  const std::size_t to_boundary = (vector_bytes - address % vector_bytes) % vector_bytes;
  layout.head_elements = static_cast<int>(std::min(to_boundary / element_bytes, n));
  const std::size_t per_vector = vector_bytes / element_bytes;
  const std::size_t body = n - layout.head_elements;
  layout.vectors = body / per_vector;
  layout.tail_elements = static_cast<int>(body % per_vector);
  layout.full_tiles = layout.vectors / tile_vectors(threads);
  layout.rest_vectors = layout.vectors % tile_vectors(threads);
  return layout;
}

inline constexpr int loop_threads = 256;
inline constexpr int dynamic_blocks_per_sm = 2;
inline constexpr std::size_t max_dynamic_blocks = 4096;

/// Device memory of the dynamic recipe: zero before the first launch, zero again after each.
struct DynamicState {
  unsigned next_tile;
  unsigned blocks_done;
};

struct SumRun {
  const std::byte* source;
  SumLayout layout;
  std::byte* result;      ///< one accumulator: float, double or 32 bits
  DynamicState* state;    ///< dynamic only
  std::byte* block_sums;  ///< dynamic only: max_dynamic_blocks accumulators
};

constexpr const char* name_of(Element element) {
  constexpr const char* names[] = {"float", "double", "int32", "half", "bfloat16"};
  return names[static_cast<int>(element)];
}
constexpr int element_bytes(Element element) {
  constexpr int bytes[] = {4, 8, 4, 2, 2};
  return bytes[static_cast<int>(element)];
}
/// half and bfloat16 are summed in float.
constexpr int accumulator_bytes(Element element) { return std::max(4, element_bytes(element)); }

/// Blocks of one launch. Throws std::invalid_argument for a block size that was not compiled.
std::size_t grid_blocks(const SumKernel& kernel, const SumLayout& layout, int sms);
/// Blocks that fit an SM at once, as the driver says.
int resident_blocks(const SumKernel& kernel);
/// Sums into `result`; zeroing it, where the recipe needs that, is part of the launch.
void launch_sum(const SumKernel& kernel, const SumRun& run, int sms, cudaStream_t stream);

inline constexpr int reference_blocks = 1024;
inline constexpr int reference_threads = 256;

/// The sum that the others are held against, by another way than theirs: scalar loads, every thread
/// its own partial sum, no shuffle, no atomic addition. The caller adds up
/// reference_blocks x reference_threads partial sums: double for floating-point elements, and exact
/// 64-bit integers otherwise.
void launch_reference(Element element, const std::byte* source, std::size_t elements,
                      std::byte* partial_sums, cudaStream_t stream);

/// What cub_sum takes: float, double and 32-bit integers.
constexpr bool cub_can_sum(Element element) {
  return element != Element::f16 && element != Element::bf16;
}
/// cub::DeviceReduce::Sum of `elements` elements into one element at `result`. Without temporary
/// memory it sums nothing and says how many bytes of it are needed. The count's type has 32 or 64
/// bits, which chooses between two compiled kernels of CUB's. Throws std::invalid_argument for
/// other elements, and for more than the count holds.
void cub_sum(Element element, const std::byte* source, std::size_t elements, int count_bits,
             std::byte* result, std::byte* temporary, std::size_t& temporary_bytes,
             cudaStream_t stream);

// The stage that adds up a warp, and the published one of a block.

/// Ways to add up the 32 values of a warp.
enum class WarpMethod {
  shuffle_xor,       ///< five exchanges with lane ^ distance: every lane gets the sum
  shuffle_down,      ///< five exchanges with lane + distance: lane 0 gets it
  reduce_add,        ///< the integer reduction instruction, compute capability 8.0 and newer
  shared_tree,       ///< through shared memory, half as many lanes each step
  shared_butterfly,  ///< through shared memory, every lane at each step: no branch, no re-read
};

/// Reductions between two renormalisations, which keep a repeated sum from overflowing: each
/// multiplies the values by up to 32. They are one multiplication (a shift) by an exact power of
/// two in the chain, at most a fourth of an addition's latency a reduction.
__host__ __device__ constexpr int reductions_per_round(Element type) {
  return type == Element::i32 ? 4 : 16;
}

/// Independent reductions that a warp has in flight.
inline constexpr int max_chains = 2;

/// What lane `lane` starts its chain `chain` with: small integers, exact in every type.
__host__ __device__ constexpr int start_value(int lane, int chain) {
  return (lane * 7 + chain * 11) % 29;
}

struct WarpStage {
  WarpMethod method;
  Element type;  ///< f32, i32 or f64
  int warps;     ///< of the one block per SM, at most 32
  int chains;    ///< 1 or max_chains
  int rounds;

  bool shuffles() const {
    return method == WarpMethod::shuffle_xor || method == WarpMethod::shuffle_down;
  }
  bool in_shared() const {
    return method == WarpMethod::shared_tree || method == WarpMethod::shared_butterfly;
  }
};

/// Writes to `clocks` [blocks][warps][2] clock64 before and after, and to `out`
/// [blocks][warps][chains][32 lanes] of the type.
void launch_warp_stage(const WarpStage& stage, int blocks, long long* clocks, std::byte* out,
                       cudaStream_t stream);

/// R3: adds up blocks of so many floats each, by the published block stage or by the same with its
/// mistake mended.
inline constexpr int block_stage_threads = 256;
void launch_block_stage(bool published, const float* source, float* sums, int blocks,
                        cudaStream_t stream);

/// Clocks of one warp's reduction (claim R2), and how often the block stage is wrong (R3).
std::vector<Case> warp_stage_cases(const DeviceFacts& device);
std::vector<Case> block_stage_cases(const DeviceFacts& device);

}  // namespace fathom::warp_reduce
