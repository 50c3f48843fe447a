#pragma once

// What the GPU tests share: Catch2, the standard library, the GPU, a stream and buffers.

#include <algorithm>
#include <array>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/buffers.h"
#include "harness/cuda_handles.h"
#include "harness/device_facts.h"
#include "harness/probe.h"

namespace fathom::test {

/// The GPU that the tests run on, and a stream. What tests copy and set is in the stream: what
/// cudaMemcpy has staged may still be on its way when it returns, and this stream does not wait for
/// it.
struct Gpu {
  DeviceFacts facts = query_device_facts(0);
  Stream stream = make_stream();

  template <class T>
  void put(void* to, const std::vector<T>& data) const {
    FATHOM_CUDA(cudaMemcpyAsync(to, data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice,
                                stream.get()));
  }
  void set(void* to, int byte, std::size_t bytes) const {
    FATHOM_CUDA(cudaMemsetAsync(to, byte, bytes, stream.get()));
  }
  void set(const Buffer& buffer, int byte) const { set(buffer.data, byte, buffer.bytes); }
  void wait() const { FATHOM_CUDA(cudaStreamSynchronize(stream.get())); }
};

struct Pool : Gpu {
  Context context{facts, stream.get(), 1};
  BufferPool& buffers = context.buffers();

  Buffer poisoned(const std::string& role, std::size_t bytes) {
    const Buffer made = buffers.output(role, bytes);
    buffers.poison(made);
    return made;
  }
  template <class T>
  std::vector<T> read(const Buffer& buffer) const {
    return copy_to_host<T>(buffer, stream.get());
  }
  /// An output that holds this.
  template <class T>
  Buffer filled(const std::string& role, const std::vector<T>& data) {
    const Buffer made = buffers.output(role, data.size() * sizeof(T));
    put(made.data, data);
    return made;
  }
  /// Nothing was written outside of a buffer.
  void check_guards();
};

// Not in the class: of that cudafe++ (CUDA 13.0) makes no end in harness_sampler_test.cu.
inline void Pool::check_guards() {
  const auto outside = buffers.guards_intact();
  INFO(outside.value_or("intact"));
  CHECK_FALSE(outside.has_value());
}

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
