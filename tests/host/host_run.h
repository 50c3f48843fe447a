#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fathom::host_run {

/// Global memory that a kernel may touch.
struct Buffer {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// What a recorded launch did. What its warp instructions cost is what models/ says of the
/// source's: where the compiler makes one wider access of several, the GPU executes fewer.
struct Report {
  std::int64_t global_load_sectors = 0, global_load_requests = 0, global_store_sectors = 0;
  std::int64_t shared_load_wavefronts = 0, shared_store_wavefronts = 0;
  std::int64_t shared_load_conflicts = 0, shared_store_conflicts = 0;  ///< beyond the least
  /// What is wrong, one sentence each, at most ten: races, accesses outside of the buffers,
  /// misaligned ones, threads that wait for each other.
  std::vector<std::string> faults;
  int races = 0;     ///< words of shared memory, counted once a block
  int barriers = 0;  ///< places in the code where a block meets
};

/// Calls `launch`, runs the kernels that it launches on the CPU, a block's threads as fibers, and
/// notes every access to memory. Two threads that touch one word of shared memory between two
/// barriers, one of them writing, are a race. `left_out`: a barrier that is passed without waiting,
/// by the order in which threads come to them first; -1: none. One at a time.
Report record(std::span<const Buffer> buffers, const std::function<void()>& launch,
              int left_out = -1);

}  // namespace fathom::host_run
