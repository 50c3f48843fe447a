#include <utility>

#include "harness/probe.h"
#include "probes/claims.h"
#include "probes/copy_bandwidth/cases.h"

namespace fathom::copy_bandwidth {
namespace {

const Probe probe{
    .name = "copy_bandwidth",
    .question =
        "How fast can this GPU copy memory, and what do access width, alignment and hints cost?",
    .method =
        "Bandwidth is bytes read plus bytes written, over event-timed launches that follow each "
        "other without a flush; sources are random bits. One thread moves one pack of 1 to 32 "
        "bytes (or several a block size apart), one tile a block, in one launch of as many blocks "
        "as the data needs; what is no whole pack is copied by element in the same kernel. Every "
        "output is poisoned and compared before it is timed, bytes past its ends included. The "
        "libraries' copies are launched alternately with the best one. Sectors, requests and "
        "instructions by counter must equal the global-memory model, DRAM bytes at 1 GiB and above "
        "the bytes of the copy within 1 %. Where warps wait is sampled by source line.",
    .conclude = conclude,
    .cases = {best_cases, width_cases, place_cases, tail_cases, row_cases, size_cases, hint_cases,
              async_cases, mix_cases},
    .samples_lines = true};

}  // namespace
}  // namespace fathom::copy_bandwidth

FATHOM_PROBE(fathom::copy_bandwidth::probe)
