#pragma once

#include <optional>

#include "gemm/problem.h"
#include "harness/device_facts.h"

namespace fathom::gemm {

/// What the arithmetic units that a class of product is made for can do at most at the GPU's highest SM
/// clock: of fp32 the FMA units, of fp64 the faster of FMA units and tensor cores, of `fp32_3xtf32` a third
/// of tf32's rate, since it takes three products; of the others the tensor cores. FLOP/s. Nothing for
/// a chip or a type whose rate is not known (models/instruction_throughput.h).
std::optional<Bound> arithmetic_peak(const DeviceFacts& device, Class of);

}  // namespace fathom::gemm
