#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <span>
#include <vector>

#include "harness/cuda_handles.h"
#include "harness/probe.h"
#include "harness/timing_kernels.h"
#include "results/document.h"

namespace fathom {

/// When to stop, and how much work makes a sample. Counts and seconds are for a whole case; the
/// runner shares them out among its rounds.
struct TimingPolicy {
  /// Stop when every workload's median has a 95 % interval of at most this relative half width.
  double target_relative_half_width = 0.0005;
  /// For each workload. Beside opponents turns count, of which two may be one sample.
  int min_samples = 24;
  int max_samples = 1500;
  /// Hard cap on the sampling of one case, in seconds.
  double time_limit_s = 1.0;
  /// Launches shorter than this are captured into a graph of several, so that the resolution of
  /// the event timer (below one microsecond) stays below the noise. Cold launches never are.
  double min_sample_s = 400e-6;
  /// The runner samples in this many rounds, so that what differs between them shows as a spread of
  /// their medians: slow drift, and, since it places small buffers elsewhere for each, where the
  /// driver put them.
  int rounds = 3;
  /// The GPU rests before each sample for so many times as long as the workload's last one took, so
  /// that work which would meet the power limit after some tenths of a second is timed in bursts.
  double rest = 0;
};

/// Seconds per launch (or, for in-kernel clocks, the metric itself) of each workload, in the order
/// taken, and how they were taken.
struct Samples {
  std::vector<std::vector<double>> of_workload;
  std::vector<double>
      seconds;  ///< of the first workload by events; equals of_workload[0] if event-timed
  std::vector<int> launches;  ///< per sample, by workload; above 1 they are one graph
  /// The SMs' clock in each group of samples that events timed; with rests in each of the first
  /// workload's.
  std::vector<double> sm_clocks_hz;
  Timing timing;
  // Filled by the runner, over all its rounds.
  std::vector<double> medians;  ///< of the first workload, by round
  Telemetry telemetry;          ///< while samples were taken
};

/// Whether the median of each of these sets of samples is known to `relative_half_width` with 95 %
/// confidence.
bool narrow_enough(const std::vector<std::vector<double>>& samples, double relative_half_width);

/// Whose turn it is: A B C C B A, and so on.
std::vector<std::size_t> turn_order(std::size_t workloads, int turns);

/// Cycles a second from stamps before to stamps after, by SM: the mean over the SMs that both have
/// met. Nothing where they are nearer than 50 us: the nanoseconds move in steps of up to one
/// microsecond.
std::optional<double> clock_between(std::span<const SmStamp> before,
                                    std::span<const SmStamp> after);

/// The SM clock that some work on a stream ran at, from the counters of the SMs themselves: NVML's
/// readings are too far apart for a launch of a millisecond, and lag behind it.
class SmClock {
 public:
  /// Loads the kernel: nothing of it has to be loaded behind work that waits.
  explicit SmClock(cudaStream_t stream);
  /// Not before what was stamped last has ended on the stream.
  void begin();
  void end();
  /// Between the two. Waits for the stream.
  std::optional<double> hertz() const;

 private:
  cudaStream_t stream_;
  /// One of the beginning, one of the end. Pinned, so that no copy or fill is queued.
  PinnedMemory<SmStamp> stamps_;
};

/// Times workloads on one stream. Launch latency is kept out by queueing a group of launches
/// behind a kernel that waits for the host; several workloads are taken in the order A B B A, and
/// where launches are so short that a sample holds several, it is the mean of a workload's two
/// turns. With rests each launch is a group of its own. Before and after each group stands a stamp
/// of the SMs' clocks.
class Sampler {
 public:
  Sampler(const DeviceFacts& device, cudaStream_t stream);

  /// Samples until `policy` says stop, whose `rounds` are the runner's affair. Workload 0 is the
  /// case's own; the others are its opponents. Each must have been launched before (lazy loading
  /// would deadlock behind the waiting kernel). `launches`: how many launches make a sample of each
  /// workload, from an earlier call that this one continues; empty: find out. Throws
  /// std::logic_error while hardware counters are being collected: nothing may be timed then.
  Samples sample(std::span<const Workload> workloads, CacheState cache, const TimingPolicy& policy,
                 std::span<const int> launches = {});

  /// Empties the L2 of what the workloads use: reads a buffer of several times its size, which
  /// leaves clean lines behind, so that a timed launch pays for none of our write-backs.
  void flush_l2();

 private:
  Event& event(std::size_t i);
  void hold_back();
  /// False if the launches behind did not wait for the host, so that their times hold its latency.
  bool release();

  const DeviceFacts& device_;
  cudaStream_t stream_;
  std::vector<Event> events_;
  PinnedMemory<int> flags_ = make_pinned_memory<int>(2);  ///< release, timed out
  DeviceMemory<std::byte> flush_buffer_;
  std::size_t flush_bytes_ = 0;
  DeviceMemory<int> sink_ = make_device_memory<int>(1);
  SmClock clock_;
  bool blocking_ = true;
  int stalls_ = 0;  ///< in a row
};

}  // namespace fathom
