#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fathom::host_run {

/// Global memory that a kernel may touch.
struct Buffer {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// Warp instructions of one kind and what models/ says that they cost. They are the source's: where
/// the compiler makes one wider access of several, the GPU executes fewer.
struct Traffic {
  std::uint64_t instructions = 0;
  std::uint64_t sectors = 0;     ///< global memory only
  std::uint64_t wavefronts = 0;  ///< shared memory only
  std::uint64_t conflicts = 0;   ///< shared memory only: wavefronts beyond the least
};

/// What a recorded launch did.
struct Report {
  Traffic global_loads, global_stores, shared_loads, shared_stores;
  /// What is wrong, one sentence each, at most ten: races, accesses outside of the buffers,
  /// misaligned ones, threads that wait for each other.
  std::vector<std::string> faults;
  int races = 0;     ///< words of shared memory, counted once a block
  int barriers = 0;  ///< places in the code where a block meets
};

/// Runs the kernels that are launched in its lifetime on the CPU, a block's threads as fibers, and
/// notes every access to memory. Two threads that touch one word of shared memory between two
/// barriers, one of them writing, are a race. `left_out`: a barrier that is passed without waiting,
/// by the order in which threads come to them first; -1: none. One at a time.
class Recording {
 public:
  explicit Recording(std::span<const Buffer> buffers, int left_out = -1);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  const Report& report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  friend struct Machine;
};

}  // namespace fathom::host_run
