#pragma once

#include <cstdlib>
#include <vector>

#include "harness/buffers.h"
#include "harness/cuda_handles.h"
#include "harness/device_facts.h"

namespace fathom::test {

/// The GPU that the tests run on, and a stream.
struct Gpu {
  DeviceFacts facts = query_device_facts(0);
  Stream stream = make_stream();
};

struct Pool : Gpu {
  BufferPool buffers{0, stream.get(), 1};
};

/// Whether sanitize.sh runs the tests: every access is instrumented then, and no time is what it
/// is.
inline bool under_sanitizer() { return std::getenv("FATHOM_UNDER_SANITIZER") != nullptr; }

template <class T>
std::vector<T> to_host(const void* data, std::size_t count) {
  std::vector<T> host(count);
  FATHOM_CUDA(cudaDeviceSynchronize());
  FATHOM_CUDA(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

}  // namespace fathom::test
