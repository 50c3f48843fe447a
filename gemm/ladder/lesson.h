#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <vector>

// What a lesson's file says of its kernel, of which gemm/bench/rung.h makes a rung.

namespace fathom::gemm {

enum class Class;
struct Problem;
struct Arguments;
struct CounterModel;

/// What a lesson's kernel is made for. Everything else goes to the fallback: transposes (but for
/// operands that wgmma takes along k alone), alpha = 0, k = 0, and sizes that its tiles leave out.
struct LessonTile {
  int m, n, k;              ///< a block's tile; k: a step
  int threads;              ///< of a block
  bool any_size = false;    ///< the kernel checks its indices
  bool vectors = false;     ///< 16-byte accesses: leading dimensions must be multiples of four
  int shared_bytes = 0;     ///< dynamic shared memory of a block
  int cluster_m = 1;        ///< blocks of a cluster one below the other
  bool persistent = false;  ///< as many clusters as the GPU runs at once, from tile to tile
};

/// The tile of a kernel by wgmma (gemm/blocks/wgmma.cuh has the config) whose steps are 128 bytes.
constexpr LessonTile tile_of(const auto& d, int element_bytes, int shared_bytes, bool persistent) {
  LessonTile tile{d.m(), d.n, 128 / element_bytes, d.threads()};
  tile.shared_bytes = shared_bytes, tile.cluster_m = d.cluster_m, tile.persistent = persistent;
  return tile;
}

/// Hardware counters that are known before a kernel runs: warp-level products (mma.sync), and
/// beside them the loads of their fragments (ldmatrix), of which a kernel may read some ahead.
using KnownCounters = std::vector<CounterModel>(const Problem&, int capability);
KnownCounters known_products, known_fragments, known_fragments_ahead;

/// What a block's tile costs as the source is written (models/ has what an access costs; tests/host
/// counts). The first six are of every 64 of k, the others of a tile.
struct LessonTraffic {
  int load_sectors = 0, load_requests = 0;  ///< of global memory
  /// In shared memory.
  int load_wavefronts = 0, load_conflicts = 0, store_wavefronts = 0, store_conflicts = 0;
  int store_sectors = 0;  ///< of global memory
  int staged_loads = 0, staged_stores = 0, staged_conflicts = 0;  ///< results on their way
};

/// What a rung says of itself (gemm/bench/rung.h).
struct RungText {
  const char* name = "";    ///< "03_tensor_cores": its file, or one beside it that it shares
  const char* parent = "";  ///< a lesson's, of the same type: gains are against it; empty: none
  const char* idea = "";    ///< what it adds to the rung before, one sentence
  const char* gain = "";    ///< what that should gain and why, one or two sentences
  int capability = 75;      ///< least compute capability, 10 x major + minor
  KnownCounters* counters = nullptr;  ///< where its own kernel does the product; null: none
  bool exact_capability = false;      ///< runs on that one only, as code for sm_90a does
  /// For fp8: sums keep the bits that fast tensor cores drop, as its opponents' do.
  bool promoted = false;
  LessonTraffic traffic{};  ///< of kernels without tensor cores
};

/// How a lesson sees a product's matrices, and along which blockIdx.x counts its tiles.
enum class Order { row_major, row_major_x_along_rows, column_major };

struct Lesson;
/// Gives a lesson's kernel its product, which must be one that it takes, and launches it.
using LaunchLesson = void(const Lesson& lesson, const Arguments& arguments, cudaStream_t stream);
LaunchLesson launch_simt;   ///< gemm/ladder/simt_lesson.h
LaunchLesson launch_half;   ///< gemm/blocks/half_tiles.cuh
LaunchLesson launch_wgmma;  ///< gemm/blocks/wgmma.cuh
LaunchLesson launch_dmma;   ///< gemm/blocks/dmma_tile.cuh

struct Lesson {
  RungText text;
  const void* kernel;
  LessonTile tile;
  LaunchLesson* launch;
  std::optional<Order> order{};    ///< none: for tensor cores, of whole tiles and lines on 16 bytes
  std::vector<Lesson> variants{};  ///< that autotuning tries in its place, itself first
};

/// A class's lessons without tensor cores: fp32's two trees, and fp64's first two.
std::vector<Lesson> simt_lessons(Class of);

/// A lesson for tensor cores. One that is fed by TMA runs on compute capability 9.0 alone.
template <auto kernel, LessonTile tile, LaunchLesson& launch>
Lesson tensor_lesson(RungText text) {
  text.exact_capability = &launch != &launch_half;
  if (text.exact_capability) text.capability = 90;
  return {text, reinterpret_cast<const void*>(kernel), tile, &launch};
}

/// The same for either type of 16 bits. Tensor cores take bf16 since Ampere.
template <auto fp16_kernel, auto bf16_kernel, LessonTile tile, LaunchLesson& launch>
Lesson half_lesson(bool is_bf16, RungText text) {
  if (is_bf16) text.capability = 80;
  return is_bf16 ? tensor_lesson<bf16_kernel, tile, launch>(text)
                 : tensor_lesson<fp16_kernel, tile, launch>(text);
}

}  // namespace fathom::gemm
