#include <algorithm>

#include "gemm/fp32/rungs.h"
#include "gemm/half/rungs.h"
#include "gemm/rung.h"

namespace fathom::gemm {

std::span<const Rung> all_rungs() {
  static const std::vector<Rung> rungs{
      fp32::naive(),
      fp32::coalesced(),
      fp32::shuffle_broadcast(),
      half::wgmma(Class::fp16),
      half::warp_specialised(Class::fp16),
      half::wide_tile(Class::fp16),
      half::persistent(Class::fp16),
      half::cluster_multicast(Class::fp16),
      half::overlapped_epilogue(Class::fp16),
      half::wgmma(Class::bf16),
      half::warp_specialised(Class::bf16),
      half::wide_tile(Class::bf16),
      half::persistent(Class::bf16),
      half::cluster_multicast(Class::bf16),
      half::overlapped_epilogue(Class::bf16),
  };
  return rungs;
}

std::vector<const Rung*> rungs_of(Class of) {
  std::vector<const Rung*> found;
  for (const Rung& rung : all_rungs()) {
    if (rung.of == of) found.push_back(&rung);
  }
  return found;
}

const Rung* find_rung(const std::string& id) {
  const auto found = std::ranges::find(all_rungs(), id, &Rung::id);
  return found == all_rungs().end() ? nullptr : &*found;
}

bool runs_on(const Rung& rung, int major, int minor) {
  const int capability = 10 * major + minor;
  return rung.exact_capability ? capability == rung.capability : capability >= rung.capability;
}

}  // namespace fathom::gemm
