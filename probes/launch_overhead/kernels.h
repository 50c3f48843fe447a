#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <string>
#include <vector>

#include "harness/cuda_handles.h"

namespace fathom::launch_overhead {

/// A kernel without an instruction but its end.
void launch_empty(int blocks, int threads, cudaStream_t stream);

/// Bytes of arguments that there are kernels for. The largest is the most that CUDA takes from
/// toolkit 12.1 and Volta on; before, it was 4096 ("CUDA 12.1 Supports Large Kernel Parameters",
/// NVIDIA technical blog).
inline constexpr int argument_bytes[] = {8, 64, 256, 1024, 4096, 32764};
/// An empty kernel that takes so many bytes of arguments, by cudaLaunchKernelExC; throws
/// std::invalid_argument for another number than those above.
void launch_with_arguments(int bytes, cudaStream_t stream);

/// A stamp to stamps[0], `kernels` empty kernels and a stamp to stamps[1], one after the other.
void launch_row(int kernels, long long* stamps, cudaStream_t stream);
/// The same as a graph, whose empty kernels all depend on the first stamp alone, and the last stamp
/// on all of them.
GraphExec fan_out(int kernels, long long* stamps);

/// A kernel of one thread that works for `clocks` of its SM and writes the global timer, in
/// nanoseconds, to stamps[2 * index] when it starts to and to stamps[2 * index + 1] when it is
/// done. `programmatic` (compute capability 9.0): the launch need not wait for the kernel before,
/// which lets it come when it starts its own work; the kernel itself then waits.
struct Link {
  long long* stamps;
  int index;
  int clocks;
  bool programmatic;
};
void launch_link(const Link& link, cudaStream_t stream);

using Stamps = std::vector<long long>;  ///< nanoseconds
/// What is wrong with the stamps of a row of empty kernels, or of links in a row: a kernel takes
/// time; the next may begin when it ends.
inline std::optional<std::string> check(const Stamps& t) {
  long long before = 0;
  for (std::size_t i = 0; i < t.size(); before = t[i++])
    if (t[i] < before || (t[i] == before && (i == 0 || i % 2 == 1)))
      return "stamp " + std::to_string(i) + " is " + std::to_string(t[i]) +
             " ns, and the one before it " + std::to_string(before) + " ns";
  return std::nullopt;
}

/// Writes `value` to `*flag`, which may be mapped host memory.
void launch_signal(volatile int* flag, int value, cudaStream_t stream);

}  // namespace fathom::launch_overhead
