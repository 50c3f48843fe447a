#include <fmt/format.h>

#include "probes/claims.h"
#include "probes/memory_latency/cases.h"

namespace fathom::memory_latency {
namespace {

const Probe probe{
    .name = "memory_latency",
    .question =
        "How long does a load take from each level of the memory hierarchy, and how much does each "
        "level hold?",
    .method = fmt::format(
        "One thread follows a chain of addresses in pseudo-random order, so that each load waits "
        "for the one before. Mean: an unrolled chase bracketed by clock64. Distribution: the clock "
        "before and after each of up to {} loads, less the median of empty brackets. The set is "
        "warmed by the same SM before. Where a chase ends and the sum of the addresses that it "
        "visited must be the host's. Sizes are where the curve of latency over working set leaves "
        "a plateau, by change-point segmentation with bootstrapped intervals. Instruction caches "
        "show in the pace of straight-line code by its length; code beside a chase through "
        "constants fills the cache that both share. Nanoseconds are cycles by the SM clock that "
        "the kernels saw (clock64 against the global timer).",
        max_timed_loads),
    .conclude = conclude,
    // The pages come last: they take nearly all of the memory.
    .cases = {latency_cases, cluster_cases, fetch_cases, constant_cases, code_cases, l1_cases,
              l2_cases, link_cases, page_cases}};

}  // namespace
}  // namespace fathom::memory_latency

FATHOM_PROBE(fathom::memory_latency::probe)
