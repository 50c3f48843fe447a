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

}  // namespace fathom
