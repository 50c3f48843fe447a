#pragma once

#include <map>
#include <memory>
#include <string>

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

/// What the product's size loses to whole tiles and waves (models/tile_quantisation.h), as extras:
/// "waves" and "tile_efficiency", of whole tiles alone where the last wave is shared equally.
/// Nothing for kernels without a tile, and for products too small for one.
std::map<std::string, double> tile_losses(const RungKernel& kernel, const Problem& problem,
                                          int blocks_per_sm, int sms);

}  // namespace fathom::gemm
