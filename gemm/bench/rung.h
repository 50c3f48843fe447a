#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gemm/bench/problem.h"
#include "gemm/ladder/lesson.h"

// Every contender's file reads this, so it has few headers, and a rung's words are literals.

namespace fathom::gemm {

/// A product and where its matrices lie in device memory, each from 256 bytes on, as cudaMalloc
/// gives them; what leading dimensions leave of that is the rung's to find out.
struct Arguments {
  Problem problem;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

/// What a launch may use beside its operands: one launch at a time, since those of several streams
/// would write each other's sums and flags. Launches of one stream may share it.
struct Workspace {
  std::byte* data = nullptr;
  std::size_t bytes = 0;  ///< at least the plan's `workspace_bytes`
  int sms = 1;            ///< of the GPU, for grids that fill it once
};

/// What a part of a workspace takes up to where the next may start: each on 256 bytes, as all do.
constexpr std::size_t workspace_part(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// What a counter must read of one launch, by its role (harness/counters/catalogue.h), and why.
struct CounterModel {
  const char* role;
  double value = 0;
  const char* model;
  double tolerance = 0;  ///< relative; shown_alone (results/document.h): not judged
};

/// The kernel that multiplies, and its launch: where two share the SMs, the one of larger clusters.
struct RungKernel {
  const void* function = nullptr;  ///< null: nothing is multiplied
  int threads = 0;
  int dynamic_shared_bytes = 0;
  int tile_m = 0, tile_n = 0, tile_k = 0;  ///< of a block, in the rung's own view; 0: no such tile
  int parts = 1;  ///< blocks that share a tile's k; 0: as many as leave no wave partly filled
  /// Tiles of a cluster below and beside each other: all are computed, even beyond C.
  int cluster_m = 1, cluster_n = 1;

  /// The same where the rung takes the product's transpose: its rows are the product's columns.
  RungKernel transposed() const {
    RungKernel other = *this;
    std::swap(other.tile_m, other.tile_n);
    std::swap(other.cluster_m, other.cluster_n);
    return other;
  }
};

/// How a rung does a product on so many SMs: decided once, for launch, workspace and report.
struct RungPlan {
  /// Asynchronous. The workspace has the bytes and the number of SMs of the plan.
  std::function<void(const Arguments&, const Workspace&, cudaStream_t)> launch;
  std::size_t workspace_bytes = 0;  ///< scratch memory, whose content does not matter
  RungKernel kernel{};
  /// False where another kernel does it or operands are copied (fp32/26 counts copies as its own).
  bool own_path = true;
  std::string name{};  ///< of a variant: "128x64x16 by 128 threads"; unique
  /// Ways among which autotuning chooses, this one first. None: there is nothing to tune.
  std::vector<RungPlan> variants{};
};

/// One step of a ladder. It has a plan for every valid problem of its class: any m, n and k, zero
/// too, leading dimensions, transposes and scalars. Another kernel does what its own cannot.
struct Rung : RungText {
  Class of = Class::fp32;
  /// Held against the library; the others are lessons. Who stands in: bench/cases.cpp.
  bool contender = false;
  std::function<RungPlan(const Problem&, int sms)> plan{};

  std::string id() const;  ///< "fp64/03_tensor_cores": type and name
  bool takes_own_path(const Problem& problem) const { return plan(problem, 1).own_path; }
};

/// For what no other kernel takes: one that checks every index.
RungPlan fallback_plan(const Problem& problem);

Rung rung_of(Class of, const Lesson& lesson);
/// The lessons of a class, parents before children.
std::vector<Rung> lessons_of(Class of);

/// What counters read of a rung's own kernel, where known before; nothing for another way.
std::vector<CounterModel> known_counters(const Rung& rung, const Problem& problem,
                                         const RungPlan& plan, int capability);

/// Every rung, class by class, each ladder in order.
std::span<const Rung> all_rungs();
/// Those of one class.
std::vector<const Rung*> rungs_of(Class of);
/// The rung of this id; null if there is none.
const Rung* find_rung(const std::string& id);
/// Whether the rung runs on this compute capability.
bool runs_on(const Rung& rung, int major, int minor);

}  // namespace fathom::gemm
