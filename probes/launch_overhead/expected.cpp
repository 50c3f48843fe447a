#include <fmt/format.h>

#include "probes/launch_overhead/kernels.h"

namespace fathom::launch_overhead {

std::optional<std::string> check(const Stamps& t) {
  long long before = 0;
  for (std::size_t i = 0; i < t.size(); before = t[i++]) {
    // A kernel takes time; the next may begin when it ends.
    if (t[i] > before || (t[i] == before && i > 0 && i % 2 == 0)) continue;
    return fmt::format("stamp {} is {} ns, and the one before it {} ns", i, t[i], before);
  }
  return std::nullopt;
}

}  // namespace fathom::launch_overhead
