#include "harness/probe.h"
#include "probes/claims.h"
#include "probes/warp_reduce/sum_cases.h"

namespace fathom::warp_reduce {
namespace {

const Probe probe{
    .name = "warp_reduce",
    .question =
        "Does a sum run at the speed of memory, and what is the cheapest way to add up a warp?",
    .method =
        "Sums of random data from 1 KiB to 4 GiB, timed with everything that they need, the "
        "zeroing of the result included, and alternately with cub::DeviceReduce::Sum; inputs of "
        "more than four times the L2 are read with the L2 flushed before. Results are held against "
        "an fp64 sum by another kernel: integers must be equal, floating point within ten standard "
        "deviations of what rounding explains. The warp stage is timed by clock64 in the kernel: "
        "one warp whose reductions each need the last one's result (latency), and 32 warps of two "
        "such chains on every SM (throughput); all lanes must hold the exact values.",
    .conclude = conclude,
    .cases = {sum_cases, warp_stage_cases}};

}  // namespace
}  // namespace fathom::warp_reduce

FATHOM_PROBE(fathom::warp_reduce::probe)
