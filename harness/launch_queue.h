#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "harness/cuda_handles.h"
#include "harness/energy.h"

namespace fathom {

/// Keeps launches queued ahead of the GPU, in batches, and notes when each batch ended, by events.
class LaunchQueue {
 public:
  /// Launches once, to know how many make a batch. Marks are in seconds since `start`, the first of
  /// them before that launch. `launch` is asynchronous on the stream, has been launched before, and
  /// outlives the queue.
  LaunchQueue(const std::function<void()>& launch, cudaStream_t stream,
              std::chrono::steady_clock::time_point start);

  void keep_full();
  /// Batches that have not ended.
  std::size_t pending();
  /// Waits for all.
  void drain();

  const std::vector<WorkMark>& marks() const { return marks_; }
  std::int64_t launches() const { return launches_; }

 private:
  struct Batch {
    Event end;
    std::int64_t launches;  ///< until its end
  };

  void launch_one_batch();
  void collect();

  const std::function<void()>& launch_;
  cudaStream_t stream_;
  Event origin_;
  double origin_s_ = 0;
  int per_batch_ = 1;
  std::size_t most_pending_ = 1;
  std::int64_t launches_ = 0;
  std::deque<Batch> pending_;
  std::vector<Event> spare_;
  std::vector<WorkMark> marks_;
};

}  // namespace fathom
