#include "gemm/tuning/sm_clock.h"

#include <vector>

#include "harness/cuda_check.h"

namespace fathom::gemm {
namespace {

constexpr int most_sms = 256;

struct Stamp {
  unsigned long long cycles, nanoseconds;
};

__global__ void stamp(Stamp* stamps) {
  unsigned sm = 0;
  Stamp now{};
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now.cycles));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now.nanoseconds));
  if (sm < most_sms) stamps[sm] = now;
}

}  // namespace

struct SmClock::State {
  cudaStream_t stream = nullptr;
  Stamp* stamps = nullptr;  ///< of the beginning, then of the end
};

SmClock::SmClock(cudaStream_t stream) : state_(std::make_unique<State>()) {
  state_->stream = stream;
  FATHOM_CUDA(cudaMalloc(&state_->stamps, 2 * most_sms * sizeof(Stamp)));
}
SmClock::~SmClock() { cudaFree(state_->stamps); }

void SmClock::begin() {
  FATHOM_CUDA(cudaMemsetAsync(state_->stamps, 0, 2 * most_sms * sizeof(Stamp), state_->stream));
  stamp<<<most_sms, 1, 0, state_->stream>>>(state_->stamps);
  FATHOM_CUDA(cudaGetLastError());
}
void SmClock::end() {
  stamp<<<most_sms, 1, 0, state_->stream>>>(state_->stamps + most_sms);
  FATHOM_CUDA(cudaGetLastError());
}

double SmClock::hertz() const {
  std::vector<Stamp> stamps(2 * most_sms);
  FATHOM_CUDA(cudaMemcpyAsync(stamps.data(), state_->stamps, stamps.size() * sizeof(Stamp),
                              cudaMemcpyDeviceToHost, state_->stream));
  FATHOM_CUDA(cudaStreamSynchronize(state_->stream));
  double sum = 0;
  int sms = 0;
  for (int i = 0; i < most_sms; ++i) {
    const Stamp &from = stamps[i], &to = stamps[most_sms + i];
    if (from.nanoseconds == 0 || to.nanoseconds <= from.nanoseconds) continue;
    sum += static_cast<double>(to.cycles - from.cycles) /
           (static_cast<double>(to.nanoseconds - from.nanoseconds) * 1e-9);
    ++sms;
  }
  return sms == 0 ? 0 : sum / sms;
}

}  // namespace fathom::gemm
