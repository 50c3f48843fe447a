#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace fathom::copy_bandwidth {

enum class ElementType { int8, half, bfloat16, float32, float64 };

/// What a 16-byte load tells the caches. Those marked with an asterisk need compute capability 8.0.
enum class LoadHint {
  none,
  non_coherent,  ///< ld.global.nc
  no_allocate,   ///< ld.global.nc.L1::no_allocate
  streaming,     ///< ld.global.cs
  not_cached,    ///< ld.global.cv
  evict_first,   ///< * createpolicy L2::evict_first
  evict_last,    ///< * createpolicy L2::evict_last
};

enum class StoreHint {
  none,
  streaming,      ///< st.global.cs
  write_through,  ///< st.global.wt
  no_allocate,    ///< st.global.L1::no_allocate
  evict_first,    ///< * createpolicy L2::evict_first
};

constexpr const char* name_of(ElementType type) {
  constexpr const char* names[] = {"int8", "half", "bfloat16", "float", "double"};
  return names[static_cast<int>(type)];
}
constexpr const char* name_of(LoadHint hint) {
  constexpr const char* names[] = {
      "none", "nc", "nc.L1::no_allocate", "cs", "cv", "L2::evict_first", "L2::evict_last"};
  return names[static_cast<int>(hint)];
}
constexpr const char* name_of(StoreHint hint) {
  constexpr const char* names[] = {"none", "cs", "wt", "L1::no_allocate", "L2::evict_first"};
  return names[static_cast<int>(hint)];
}

constexpr bool has_hint(LoadHint hint, int major) {
  return major >= 8 || (hint != LoadHint::evict_first && hint != LoadHint::evict_last);
}
constexpr bool has_hint(StoreHint hint, int major) {
  return major >= 8 || hint != StoreHint::evict_first;
}

/// A contiguous copy: each thread moves `vector` elements as one pack (wider than 16 bytes: as two
/// instructions), `unroll` packs a block size apart, all loaded before the first is stored.
struct CopyShape {
  ElementType type = ElementType::float32;
  int vector = 1;
  int unroll = 1;
  LoadHint load = LoadHint::none;
  StoreHint store = StoreHint::none;
  friend constexpr bool operator==(const CopyShape&, const CopyShape&) = default;
};

constexpr int element_bytes(ElementType type) {
  constexpr int bytes[] = {1, 2, 2, 4, 8};
  return bytes[static_cast<int>(type)];
}
constexpr int pack_bytes(const CopyShape& shape) {
  return element_bytes(shape.type) * shape.vector;
}

inline constexpr auto all_shapes = [] {
  using enum ElementType;
  using enum LoadHint;
  std::array<CopyShape, 42> shapes{};
  std::size_t count = 0;
  for (const ElementType type : {int8, half, bfloat16, float32, float64})
    for (int vector = 1; vector * element_bytes(type) <= 32; vector *= 2)
      shapes[count++] = {type, vector};
  for (const ElementType type : {half, int8})
    for (const int unroll : {4, 16, 32}) shapes[count++] = {type, 1, unroll};
  for (const int unroll : {2, 4}) shapes[count++] = {float32, 4, unroll};
  for (const LoadHint load :
       {non_coherent, no_allocate, streaming, not_cached, evict_first, evict_last})
    shapes[count++] = {float32, 4, 1, load};
  for (const StoreHint store : {StoreHint::streaming, StoreHint::write_through,
                                StoreHint::no_allocate, StoreHint::evict_first})
    shapes[count++] = {float32, 4, 1, none, store};
  shapes[count++] = {float32, 4, 1, evict_last, StoreHint::evict_first};
  return shapes;
}();

struct CopyRun {
  const std::byte* src = nullptr;  ///< both aligned to the pack, at most 16 bytes
  std::byte* dst = nullptr;
  std::size_t bytes = 0;  ///< a multiple of the element; what is no whole pack is copied by element
  int threads = 256;      ///< a multiple of 32
  bool one_by_one = false;  ///< each element is stored before the next is loaded
};

/// Throws std::invalid_argument for a shape that is not among `all_shapes`.
void launch_copy(const CopyShape& shape, const CopyRun& run, cudaStream_t stream);

/// Source lines of `copy_kernels.cu` on which an unhinted copy loads and stores, for PC sampling.
struct SourceLines {
  unsigned load_call, load, store_call, store;
};
SourceLines plain_copy_lines();

/// Threads of a block in all that follows but the asynchronous copies.
inline constexpr int pattern_threads = 256;

enum class Strided { loads, stores };

/// Copies so many packs, of 4 or 16 bytes, whose places on one side are `stride` packs apart.
using StridedCopy = void (*)(const std::byte* src, std::byte* dst, std::size_t packs,
                             unsigned stride);
StridedCopy strided_copy_of(int pack_bytes, Strided side);
/// Adds those of the first `words` words of the destination that such a copy, into poisoned memory,
/// got wrong to *wrong. What lies between the packs of a strided store must still hold its poison.
__global__ void check_strided_copy(const std::uint32_t* src, const std::uint32_t* dst,
                                   std::size_t words, int pack_words, unsigned stride, Strided side,
                                   unsigned long long* wrong);

/// Folds rows of `columns` words to their exclusive or, a word a row: one thread a row. Element
/// (row, column) is at row x row_step + column x column_step, so that `row_step` 1 is along the
/// lanes and `column_step` 1 across them, in one and the same compiled loop.
__global__ void fold_rows(const std::uint32_t* src, std::uint32_t* dst, std::uint32_t columns,
                          std::size_t row_step, std::size_t column_step);
struct FoldedRows {
  const std::uint32_t* src;
  const std::uint32_t* dst;
  std::uint32_t rows, columns;
  std::size_t row_step, column_step;
};
__global__ void check_rows(FoldedRows folded, unsigned long long* wrong);

enum class Mix { read, write, scale, add, triad };
__host__ __device__ constexpr int inputs_of(Mix mix) {
  if (mix == Mix::write) return 0;
  return mix == Mix::add || mix == Mix::triad ? 2 : 1;
}

/// STREAM's kernels by 16-byte packs on float or double: out = s a, a + b, a + s b; `write` stores
/// packs made of their index, `read` folds `packs_per_fold` packs of each lane of a warp to a word.
inline constexpr int read_packs_per_thread = 8;
inline constexpr std::size_t read_bytes_per_fold = std::size_t{16} * read_packs_per_thread * 32;
struct MixRun {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::byte* out = nullptr;
  std::size_t bytes = 0;  ///< of one array; for `read` a multiple of read_bytes_per_fold x 8
};
/// Runs the mix, or, where `wrong` is not null, adds what it got wrong to *wrong.
void launch_mix(Mix mix, ElementType type, const MixRun& run, unsigned long long* wrong,
                cudaStream_t stream);

/// cp.async (compute capability 8.0): 16 bytes a thread through shared memory, of which a block has
/// as many dynamically.
__global__ void async_copy(const uint4* src, uint4* dst, std::size_t packs);
/// cp.async.bulk (9.0): one tile a block through dynamic shared memory by the bulk-copy engine; the
/// tile is a multiple of 16 bytes.
__global__ void bulk_copy(const std::byte* src, std::byte* dst, unsigned tile_bytes,
                          bool evict_last);

/// The libraries' copies, device to device.
void launch_memcpy(const CopyRun& run, cudaStream_t stream);
/// cub::DeviceTransform with the identity over float or double; bytes of whole elements.
template <class T>
void launch_transform(const CopyRun& run, cudaStream_t stream);

}  // namespace fathom::copy_bandwidth
