#include "harness/sm_clock.h"

#include <algorithm>

#include "harness/cuda_check.h"

namespace fathom {

std::optional<double> clock_between(std::span<const SmStamp> before,
                                    std::span<const SmStamp> after) {
  constexpr unsigned long long shortest_ns = 50'000;
  double sum = 0;
  int sms = 0;
  for (std::size_t sm = 0; sm < std::min(before.size(), after.size()); ++sm) {
    const SmStamp &from = before[sm], &to = after[sm];
    if (from.nanoseconds == 0 || to.nanoseconds < from.nanoseconds + shortest_ns) continue;
    if (to.cycles <= from.cycles) continue;
    sum += static_cast<double>(to.cycles - from.cycles) /
           (static_cast<double>(to.nanoseconds - from.nanoseconds) * 1e-9);
    ++sms;
  }
  return sms == 0 ? std::nullopt : std::optional(sum / sms);
}

SmClock::SmClock(cudaStream_t stream)
    : stream_(stream), stamps_(make_pinned_memory<SmStamp>(2 * most_sms)) {
  begin();
  FATHOM_CUDA(cudaStreamSynchronize(stream_));
}

void SmClock::begin() {
  std::fill_n(stamps_.get(), 2 * most_sms, SmStamp{});
  launch_stamp_sms(stamps_.get(), stream_);
}

void SmClock::end() { launch_stamp_sms(stamps_.get() + most_sms, stream_); }

std::optional<double> SmClock::hertz() const {
  FATHOM_CUDA(cudaStreamSynchronize(stream_));
  return clock_between({stamps_.get(), most_sms}, {stamps_.get() + most_sms, most_sms});
}

}  // namespace fathom
