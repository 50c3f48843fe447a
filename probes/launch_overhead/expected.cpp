#include <fmt/format.h>

#include "probes/launch_overhead/kernels.h"

namespace fathom::launch_overhead {

std::optional<std::string> check(const Stamps& t) {
  if (t.size() == 2 && (t[0] <= 0 || t[1] <= t[0]))
    return fmt::format("the last stamp, {} ns, is not after the first, {} ns", t[1], t[0]);
  for (std::size_t i = 0; i < t.size(); i += 2) {
    if (t[i] <= 0 || t[i + 1] <= t[i]) return fmt::format("kernel {} reported no times", i / 2);
    if (i > 0 && t[i] < t[i - 1]) {
      return fmt::format("kernel {} began its work {} ns before the one it depends on was done",
                         i / 2, t[i - 1] - t[i]);
    }
  }
  return std::nullopt;
}

}  // namespace fathom::launch_overhead
