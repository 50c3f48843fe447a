#include "studies/gate/power_curve.h"

#include <fmt/format.h>

namespace fathom::gate {

std::string share_text(const Share& share) {
  const Interval interval = share.interval();
  return fmt::format("{:.2f} % ({:.2f} to {:.2f} %)", 100 * share.value(), 100 * interval.low,
                     100 * interval.high);
}

}  // namespace fathom::gate
