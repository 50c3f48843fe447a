#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gemm/bench/problem.h"
#include "gemm/bench/rung.h"
#include "gemm/bench/verification.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// A rung's product on the GPU, ready to be verified and timed: in the fastest variant, where the
/// rung has some, each held against the reference first: throws Error(check_failed) where its
/// product is wrong. Extras say registers, shared memory, warps and waves of the kernel that
/// multiplied, and how accurate C was; notes say which variant and which kernel ran.
Workload rung_workload(Context& context, const Rung& rung, const Problem& problem,
                       const std::shared_ptr<RunMemory>& memory);

/// What the product's size loses to whole tiles and waves (models/waves.h), as extras:
/// "waves" and "tile_efficiency", of whole tiles alone where the last wave is shared equally.
/// Nothing for kernels without a tile, and for products too small for one.
std::map<std::string, double> tile_losses(const RungKernel& kernel, const Problem& problem,
                                          int blocks_per_sm, int sms);

/// The fastest of several ways to do a product, by the conditions in which it then meets others:
/// bursts of short launches in rows. Ways that single launches leave in question meet in turn.
/// Products of 20 ms a launch take three seconds, most others less than half of one.
///
/// `works` launches a way, and is false where that cannot do the product; `launch` throws there.
/// Nothing if none works.
std::optional<std::size_t> find_fastest(Context& context, std::size_t ways,
                                        const std::function<bool(std::size_t)>& works,
                                        const std::function<void(std::size_t)>& launch);

/// Indices of the ways that single launches leave in question, fastest first, eight at most: those
/// within half of the lowest time of all and the few microseconds that launches differ by. Ties go
/// to the earlier one. A way that failed has an infinite time.
std::vector<std::size_t> finalists(std::span<const double> lowest_seconds);

/// A kernel's name for people: demangled, without return type, arguments and our own namespaces:
/// "fp32::warp_specialised_product<fp32::Tile<false, false, ...".
std::string readable_name(const std::string& mangled);
/// The same of a kernel of this program.
std::string kernel_name(const void* function);

/// The kernels that `launch` puts on the stream, in the order of the driver's nodes of its capture:
/// "ampere_sgemm_128x128_nn, splitKreduce_kernel". Nothing of it runs; its kernels have run before,
/// since loading a module is forbidden in a capture. Says why where a launch cannot be captured,
/// and where the driver cannot tell (it names kernels since CUDA 12.3).
std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream);

inline constexpr const char* cublas_name = "cuBLAS";
inline constexpr const char* cublaslt_name = "cuBLASLt, best of 32";

/// Room for the library's scratch data, and most of its algorithms that are tried.
inline constexpr std::size_t library_workspace_bytes = std::size_t{64} << 20;
inline constexpr int most_algorithms = 32;

/// By which the choice among cublasLtMatmul's algorithms is known.
inline std::string choice_key(const Problem& problem, bool fast_sums) {
  return std::string(cublaslt_name) + (fast_sums ? " " : " kept ") + problem.describe();
}

/// The vendor's library on the same product, as its users have it (cublasGemmEx with the default
/// algorithm) and as whoever tunes it has it (cublasLtMatmul with the fastest of the algorithms
/// that its heuristic names, each timed): none where there is no library or it does not take the
/// product (of fp8 and int8 some layouts and sizes), and for fp8 the second alone. fp32 is computed
/// in real fp32, with neither TF32 nor emulation.
///
/// `fast_sums`: fp8 is accumulated as fast as the tensor cores can; else all bits are kept.
std::vector<OpponentCase> opponents(const Problem& problem,
                                    const std::shared_ptr<RunMemory>& memory, bool fast_sums);

/// Why there are none, in one sentence that says what to do; empty where there are.
const std::string& why_no_opponents();

}  // namespace fathom::gemm
