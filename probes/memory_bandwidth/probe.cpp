
#include "probes/claims.h"
#include "probes/memory_bandwidth/cases.h"

namespace fathom::memory_bandwidth {
namespace {

const Probe probe{
    .name = "memory_bandwidth",
    .question =
        "How many bytes does each level of the memory hierarchy move, and what does it take to "
        "saturate it?",
    .method =
        "One wave of blocks walks again and again over a working set in tiles, several accesses of "
        "each thread in flight, and every SM reports its clock at its first warp's start and at "
        "its last warp's end. Registers, shared memory and the L1 are timed by those clocks: the "
        "median over the SMs, times SMs and SM clock. The L2, DRAM and the curves are timed by "
        "events. Other grids have many more blocks than run at once, each over after one tile a "
        "warp, so that SMs share the work as each gets done. Few SMs are those with even numbers "
        "first, then odd ones. Registers: the three 4-byte operands a lane that each fused "
        "multiply-add takes, no two in a row sharing one. L2: loads that cannot hit in the L1 "
        "(ld.global.cg) or that leave nothing in it (L1::no_allocate), every sector of them read "
        "by the L2 where it was counted. DRAM: more than the L2 holds many times over, for loads "
        "from a flushed L2. A copy's bytes count as read and as written. What is loaded is added "
        "up and compared with the sum that other code makes of the same bytes; what is stored or "
        "copied is compared word by word.",
    .conclude = conclude,
    .cases = {register_cases, shared_cases, level_cases, footprint_cases, saturation_cases}};

}  // namespace
}  // namespace fathom::memory_bandwidth

FATHOM_PROBE(fathom::memory_bandwidth::probe)
