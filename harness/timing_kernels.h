#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace fathom {

/// Holds back everything queued behind it on `stream` until `*release` (mapped host memory) is not
/// zero. Ends by itself after `limit_ns`, having set `*timed_out`: under a tool that serialises
/// launches the host could otherwise never come to release it.
void launch_wait_for_host(const volatile int* release, volatile int* timed_out,
                          std::uint64_t limit_ns, cudaStream_t stream);

/// Reads `bytes` of `data`, random and at least 4 MiB of them; `sink` then is never written.
void launch_read_all(const std::byte* data, std::size_t bytes, int* sink, cudaStream_t stream);

/// What the clocks of one SM read at a moment: its cycles, and the nanoseconds that all SMs share.
struct alignas(16) SmStamp {
  unsigned long long cycles = 0, nanoseconds = 0;
};

/// More than any GPU has.
constexpr int most_sms = 256;

/// Stamps each SM that its blocks meet, which are all on a GPU that does nothing else: SM i into
/// `stamps[i]`, of most_sms, where the GPU can write. The rest stays as it is.
void launch_stamp_sms(SmStamp* stamps, cudaStream_t stream);

}  // namespace fathom
