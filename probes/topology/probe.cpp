
#include "probes/claims.h"
#include "probes/topology/cases.h"

namespace fathom::topology {
namespace {

const Probe probe{
    .name = "topology",
    .question =
        "Which SMs sit together in TPCs and GPCs, and how far is each line of the L2 from each of "
        "them?",
    .method =
        "One block on each SM, known by %smid, and only the SM in question at work: the clock "
        "before and after single accesses to each of 192 lines that the L2 holds, less the median "
        "of empty brackets, the interquartile mean over 24 accesses to a line. Loads "
        "(ld.global.cg) may find a copy on their side of the L2, atomics go to the line's home. "
        "From the matrix of SMs and lines the means of its rows and columns are taken away; SMs "
        "are then grouped by the correlation of what is left (average linkage, the cut with the "
        "widest silhouette). All of it twice, with other lines and in the other order; the "
        "adjusted Rand index of both groupings says how far they agree. GPCs, from compute "
        "capability 9.0 on: all blocks of a cluster run on one GPC, so SMs that clusters of any "
        "size have in common are in one; SMs that only clusters of two reach are put into one by "
        "their latencies, where those agree on the others. TPCs: how often clusters of two join "
        "each two SMs, in first waves on an idle GPU and where several blocks share an SM; and an "
        "SM streams through its own slice of the L2 with each other SM doing the same beside it, "
        "one at a time, in case SMs of a TPC share a port.",
    .conclude = conclude,
    .cases = {cluster_cases, pair_cases, latency_cases, contention_cases}};

}  // namespace
}  // namespace fathom::topology

FATHOM_PROBE(fathom::topology::probe)
