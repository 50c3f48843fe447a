#include "harness/launch_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/cuda_check.h"
#include "harness/host_timer.h"

namespace fathom {
namespace {

/// A batch of launches is long against an event and short against a step of the energy counter; as
/// many are queued ahead as outlast a host that is held up, and no more: somebody waits for their
/// end.
constexpr double batch_s = 0.004, ahead_s = 0.04;
constexpr double fewest_batches_ahead = 2, most_batches_ahead = 10;
constexpr int most_launches_per_batch = 64;

}  // namespace

LaunchQueue::LaunchQueue(const std::function<void()>& launch, cudaStream_t stream,
                         std::chrono::steady_clock::time_point start)
    : launch_(launch), stream_(stream), origin_(make_event()) {
  FATHOM_CUDA(cudaEventRecord(origin_.get(), stream_));
  FATHOM_CUDA(cudaEventSynchronize(origin_.get()));
  origin_s_ = seconds_since(start);
  marks_.push_back({origin_s_, 0});
  launch_one_batch();
  drain();
  const double one = std::max(marks_.back().seconds - marks_.front().seconds, 1e-6);
  per_batch_ = std::clamp(static_cast<int>(std::ceil(batch_s / one)), 1, most_launches_per_batch);
  most_pending_ = static_cast<std::size_t>(std::clamp(std::ceil(ahead_s / (one * per_batch_)),
                                                      fewest_batches_ahead, most_batches_ahead));
}

void LaunchQueue::keep_full() {
  collect();
  while (pending_.size() < most_pending_) launch_one_batch();
}

std::size_t LaunchQueue::pending() {
  collect();
  return pending_.size();
}

void LaunchQueue::drain() {
  FATHOM_CUDA(cudaStreamSynchronize(stream_));
  collect();
}

void LaunchQueue::launch_one_batch() {
  for (int i = 0; i < per_batch_; ++i) launch_();
  launches_ += per_batch_;
  if (spare_.empty()) spare_.push_back(make_event());
  Event end = std::move(spare_.back());
  spare_.pop_back();
  FATHOM_CUDA(cudaEventRecord(end.get(), stream_));
  pending_.push_back({std::move(end), launches_});
}

void LaunchQueue::collect() {
  while (!pending_.empty()) {
    const cudaError_t status = cudaEventQuery(pending_.front().end.get());
    if (status == cudaErrorNotReady) return;
    FATHOM_CUDA(status);
    float ms = 0;
    FATHOM_CUDA(cudaEventElapsedTime(&ms, origin_.get(), pending_.front().end.get()));
    marks_.push_back({origin_s_ + ms * 1e-3, static_cast<double>(pending_.front().launches)});
    spare_.push_back(std::move(pending_.front().end));
    pending_.pop_front();
  }
}

}  // namespace fathom
