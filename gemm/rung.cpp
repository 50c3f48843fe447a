#include "gemm/rung.h"

#include <algorithm>
#include <string>

namespace fathom::gemm {

std::string Rung::id() const { return std::string(traits(of).name) + "/" + name; }

bool Rung::answers(const char* claim) const {
  return std::ranges::any_of(claims, [&](const std::string& own) { return own == claim; });
}

bool runs_on(const Rung& rung, int major, int minor) {
  const int capability = 10 * major + minor;
  return rung.exact_capability ? capability == rung.capability : capability >= rung.capability;
}

}  // namespace fathom::gemm
