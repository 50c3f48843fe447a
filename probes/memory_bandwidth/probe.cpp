#include "probes/claims.h"
#include "probes/memory_bandwidth/cases.h"

namespace fathom::memory_bandwidth {

const Probe probe{
    .name = "memory_bandwidth",
    .question =
        "How many bytes does each level of the memory hierarchy move, and what does it take to "
        "saturate it?",
    .method =
        "One wave of blocks walks again and again over a working set in tiles, several accesses of "
        "each thread in flight. Registers, shared memory and the L1 are timed by the SMs' clocks: "
        "the median SM, times SMs and SM clock; the L2, DRAM and the curves by events. Other grids "
        "have many more blocks than run at once, each over after one tile a warp. Registers: the "
        "three 4-byte operands a lane that each fused multiply-add takes. L2: loads that cannot "
        "hit in the L1 (ld.global.cg) or leave nothing in it (L1::no_allocate). DRAM: more than "
        "the L2 holds many times over, for loads from a flushed L2. A copy's bytes count as read "
        "and as written. What is loaded is added up, what is stored or copied compared word by "
        "word.",
    .conclude = conclude,
    .cases = {on_chip_cases, level_cases, curve_cases}};

}  // namespace fathom::memory_bandwidth

FATHOM_PROBE(fathom::memory_bandwidth::probe)
