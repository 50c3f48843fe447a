#pragma once

#include <cuda_runtime.h>

#include <vector>

// What a lesson's file says of its kernel. gemm/ladder/lessons.h makes a rung of it; what a product
// is to the rest of gemm, nobody has to know here.

namespace fathom::gemm {

struct Problem;
struct Arguments;
struct Workspace;
struct RungPlan;
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

/// What a rung says of itself (gemm/bench/rung.h).
struct RungText {
  const char* name = "";    ///< "03_tensor_cores": its file, or one beside it that it shares
  const char* parent = "";  ///< a lesson's, of the same type: gains are against it; empty: none
  const char* idea = "";    ///< what it adds to the rung before, one sentence
  const char* gain = "";    ///< what that should gain and why, one or two sentences
  std::vector<const char*> claims{};  ///< identifiers of the claims that it answers
  int capability = 75;                ///< least compute capability, 10 x major + minor
  KnownCounters* counters = nullptr;  ///< where its own kernel does the product; null: none
};

struct Lesson {
  RungText text;
  const void* kernel;
  LessonTile tile;
  void (*launch)(const Arguments&, const Workspace&, cudaStream_t);
  bool (*takes_own_path)(const Problem&);
  void (*variants)(const Problem&, std::vector<RungPlan>& found) = nullptr;
  bool exact_capability = false;
  bool promoted = false;
};

/// Computes any product, with every index checked.
void launch_fallback(const Arguments& arguments, cudaStream_t stream);

// Lessons for tensor cores: of whole tiles, and lines that start on 16 bytes.

bool is_plain(const Problem& problem, const LessonTile& tile);
bool is_plain(const Arguments& arguments, const LessonTile& tile);

/// Clusters of a persistent kernel: what the GPU runs at once. 0 if it is not persistent.
int clusters_at_once(const void* kernel, const LessonTile& tile);

/// How a kernel gets its product; `clusters` as clusters_at_once has it.
using LaunchTensorKernel = void(const void* kernel, const LessonTile& tile, int clusters,
                                const Arguments& arguments, cudaStream_t stream);
LaunchTensorKernel launch_half;   ///< gemm/blocks/half_tiles.cuh
LaunchTensorKernel launch_wgmma;  ///< gemm/blocks/wgmma.cuh
LaunchTensorKernel launch_dmma;   ///< gemm/blocks/dmma_tile.cuh

/// A lesson whose kernel this is. What is made for compute capability 9.0 runs nowhere else.
template <auto kernel, LessonTile tile, LaunchTensorKernel& launch>
Lesson tensor_lesson(const RungText& text) {
  static const void* const function = reinterpret_cast<const void*>(kernel);
  return {.text = text,
          .kernel = function,
          .tile = tile,
          .launch =
              [](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
                if (!is_plain(arguments, tile)) return launch_fallback(arguments, stream);
                static const int clusters = clusters_at_once(function, tile);
                launch(function, tile, clusters, arguments, stream);
              },
          .takes_own_path = [](const Problem& p) { return is_plain(p, tile); },
          .exact_capability = text.capability == 90};
}

/// The same for either type of 16 bits.
template <auto fp16_kernel, auto bf16_kernel, LessonTile tile, LaunchTensorKernel& launch>
Lesson half_lesson(bool is_bf16, const RungText& text) {
  return is_bf16 ? tensor_lesson<bf16_kernel, tile, launch>(text)
                 : tensor_lesson<fp16_kernel, tile, launch>(text);
}

}  // namespace fathom::gemm
