#pragma once

#include <vector>

#include "gemm/bench/request.h"
#include "gemm/bench/rung.h"
#include "harness/device_facts.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// The ladders' cases on this GPU: every rung that it can run, unless the request says otherwise,
/// without products that it is too small or too slow for (gemm/bench/shapes.h). Their axis `part`
/// says what they are for: "ladder" (every rung at one size), "contest" (contenders where they are
/// to beat the library), "sizes" and "tiles" (the top rung over sizes, and around multiples of a
/// tile), "layouts" (the last contenders in the other transpositions), "sustained" (under lasting
/// load, of contenders that are held against the library in the same mode the last), "claim" (what
/// a claim speaks of), "request" (the product of the command line). Throws Error(bad_input) for
/// rungs or a type that were asked for and do not run on this GPU.
std::vector<Case> ladder_cases(const DeviceFacts& device, const Request& request);

/// The product of `size`³ that the ladder measures: a lesson's in a layout that its own kernel
/// takes.
Problem ladder_problem(const Rung& rung, std::int64_t size);

// Which rungs are measured where.

/// The rungs that the request asks for and this GPU runs, in order. Throws Error(bad_input) for one
/// that was named and does not run on it, and where none is left.
std::vector<const Rung*> wanted_rungs(const DeviceFacts& device, const Request& request);

/// Whether a rung that this GPU runs is held against the vendor's library there: a contender by
/// itself, or where the GPU runs none of its class the last one that it does run.
bool contends(const Rung& rung, const DeviceFacts& device);

/// The last contender of each class among the rungs: the top of its ladder.
std::vector<const Rung*> tops(const std::vector<const Rung*>& rungs, const DeviceFacts& device);

/// The contenders among the rungs that no later one supersedes: one of the same class that is held
/// against the library in the same mode. Under lasting load a rung takes fourteen seconds, so that
/// only these are measured there.
std::vector<const Rung*> last_contenders(const std::vector<const Rung*>& rungs,
                                         const DeviceFacts& device);

}  // namespace fathom::gemm
