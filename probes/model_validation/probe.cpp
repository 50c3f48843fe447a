#include "harness/probe.h"
#include "probes/claims.h"
#include "probes/model_validation/campaigns.h"

namespace fathom::model_validation {
namespace {

std::vector<Case> cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const Space space : {Space::shared, Space::global}) {
    for (const models::Access op : {models::Access::load, models::Access::store})
      for (const int bytes : widths) result.push_back(warp_case(space, op, bytes));
  }
  result.push_back(occupancy_case(device));
  return result;
}

const Probe probe{
    .name = "model_validation",
    .question =
        "Do the models of shared memory, global memory and occupancy predict this GPU exactly, "
        "whatever the pattern?",
    .method =
        "Random warp patterns, structured and not, many with inactive lanes: strides, broadcasts, "
        "pairs, permutations, tiles plain, padded and swizzled, structures, few banks, scattered "
        "words. Each is one memory instruction of one warp in a kernel of its own, whose addresses "
        "come from the constant bank, so that wavefronts, conflicts, sectors, requests and "
        "instructions by counter are its alone; each must equal the model. What each lane read or "
        "stored is checked in a separate launch. Random block sizes, registers, shared memory and "
        "carve-outs go to the occupancy model and to the driver. The same seed gives the same "
        "patterns.",
    .conclude = conclude,
    .cases = {cases},
    // A pattern takes about a millisecond, most of it the profiler's.
    .options = {
        {"patterns", "Random warp patterns in all, shared equally by the cases; about 900 a second",
         2'000, 20'000, 1, 100'000'000},
        {"configurations", "Random configurations of the occupancy model", 10'000, 10'000, 1,
         100'000'000}}};

}  // namespace
}  // namespace fathom::model_validation

FATHOM_PROBE(fathom::model_validation::probe)
