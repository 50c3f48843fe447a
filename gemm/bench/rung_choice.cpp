#include "gemm/bench/rung_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/error.h"

namespace fathom::gemm {

std::vector<const Rung*> wanted_rungs(const DeviceFacts& device, const Request& request) {
  std::vector<const Rung*> rungs;
  for (const Rung& rung : all_rungs()) {
    if (!request.wants(rung)) continue;
    if (runs_on(rung, device.major, device.minor)) {
      rungs.push_back(&rung);
    } else if (!request.rungs.empty()) {
      throw Error(
          ExitCode::bad_input,
          fmt::format("The rung {} runs on compute capability {}.{}{}, and this GPU has {}.{}: "
                      "take others.",
                      rung.id(), rung.capability / 10, rung.capability % 10,
                      rung.exact_capability ? " only" : " or newer", device.major, device.minor));
    }
  }
  if (rungs.empty()) {
    throw Error(ExitCode::bad_input,
                fmt::format("No rung of this type runs on compute capability {}.{}: take another.",
                            device.major, device.minor));
  }
  return rungs;
}

bool contends(const Rung& rung, const DeviceFacts& device) {
  if (rung.contender) return true;
  // Of all rungs, not of those that were asked for: what a rung is does not hang on the command
  // line.
  const Rung* last = nullptr;
  for (const Rung* other : rungs_of(rung.of)) {
    if (!runs_on(*other, device.major, device.minor)) continue;
    if (other->contender) return false;
    last = other;
  }
  return last == &rung;
}

std::vector<const Rung*> tops(const std::vector<const Rung*>& rungs, const DeviceFacts& device) {
  std::vector<const Rung*> found;
  for (const ClassTraits& row : all_classes()) {
    const auto top = std::find_if(rungs.rbegin(), rungs.rend(), [&](const Rung* rung) {
      return rung->of == row.of && contends(*rung, device);
    });
    if (top != rungs.rend()) found.push_back(*top);
  }
  return found;
}

std::vector<const Rung*> last_contenders(const std::vector<const Rung*>& rungs,
                                         const DeviceFacts& device) {
  std::vector<const Rung*> found;
  for (auto rung = rungs.begin(); rung != rungs.end(); ++rung) {
    const bool superseded = std::any_of(rung + 1, rungs.end(), [&](const Rung* later) {
      return contends(*later, device) && later->of == (*rung)->of &&
             later->promoted == (*rung)->promoted;
    });
    if (contends(**rung, device) && !superseded) found.push_back(*rung);
  }
  return found;
}

}  // namespace fathom::gemm
