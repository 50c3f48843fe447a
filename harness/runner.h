#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/counters/pc_sampling.h"
#include "harness/cuda_handles.h"
#include "harness/probe.h"
#include "harness/telemetry.h"
#include "harness/timing.h"
#include "results/document.h"
#include "results/error.h"

namespace fathom {

/// After an error with this code no further call to the GPU can succeed in this process.
bool leaves_gpu_unusable(ExitCode code);

/// One measured case: what was asked and what came back.
struct Measured {
  const Case* c;
  Entry entry;
};

/// How many places a round has whose buffers that move take so many bytes, on a GPU with such an
/// L2: as many as a quarter of it holds together, 32 at most. 1 where `bytes` or the L2 is not
/// known. A sample of fewer launches goes through as many of them as it has.
///
/// Small work is in many places because, where the caches hold everything, a time follows from
/// where the driver put the buffers: on an H200 by up to 12 % for 1 KiB, so that three places left
/// a median that differed by 2 % (standard deviation) from process to process.
int places_in_a_round(std::size_t bytes, std::size_t l2_bytes);

/// The last of these workloads, which are one in several places, but each launch is of another of
/// them, in turn.
Workload taking_turns(std::vector<Workload> places);

/// Measures the cases of one probe: verification before timing, timing interleaved with the
/// opponents, telemetry beside it; and afterwards, never at the same time, the hardware counters.
class Runner {
 public:
  Runner(const DeviceFacts& device, std::uint64_t seed, const TimingPolicy& policy,
         OptionValues options = {});

  /// Processes on the GPU that are held back while this one measures, and are not counted as
  /// others.
  void set_held_beside(int processes) { telemetry_.set_held_beside(processes); }

  /// Measures a case as its mode says. `counters` and `keep_going` are of campaigns, which collect
  /// hardware counters as they run. A failure of the case alone (wrong output, out of memory) is in
  /// the entry's verdict; an error that leaves the GPU unusable is thrown.
  Entry measure(
      const std::string& entry_name, const std::string& probe, const Case& c, bool counters = true,
      const KeepGoing& keep_going = [] { return true; });

  /// Collects the counters of every case into its entry, or why there are none.
  void collect_counters(std::span<Measured* const> cases,
                        const std::function<bool(std::size_t done)>& keep_going);

  /// Why counters, a campaign's too, could not be had, with its exit code; nothing if all were.
  const std::optional<Error>& counter_problem() const { return counter_problem_; }

  /// Samples the program counter of a case that asks for `line_shares`: the shares as counters, or
  /// why there are none. Call it before the first `measure`: where a process has captured a stream
  /// or collected counters before a kernel is first sampled, CUPTI files the samples under kernels
  /// that it does not know (seen on an H200, CUDA 13.0).
  /// `sampler` is made with the first case and serves all: CUPTI does not know the kernels that
  /// were loaded between two samplers either.
  std::vector<Counter> sample_lines(const Case& c, std::optional<PcSampler>& sampler);

  /// Exit code of the worst case failure so far; ok if there was none.
  ExitCode case_failure() const { return case_failure_; }

 private:
  /// What fills a case's entry, and returns what is wrong with an output. That and a failure of the
  /// case become the verdict, and the figure goes.
  using Wrong = std::optional<std::string>;
  Wrong time(const Case& c, Entry& entry);
  Wrong measure_energy(const Case& c, Entry& entry);
  Wrong run_campaign(const Case& c, bool counters, const KeepGoing& keep_going, Entry& entry);
  /// Ready to be timed, the case's own first; nothing, and what is wrong, if an output is wrong.
  std::vector<Workload> prepare_and_verify(const Case& c, Wrong& wrong);
  Wrong check_output(const Workload& workload);
  /// Small buffers lie elsewhere in each round, and in several places at once where the caches hold
  /// them.
  Samples sample_in_rounds(const Case& c, std::vector<Workload>& workloads, Wrong& wrong);

  /// The same of a case under lasting load, with the joules in the entry's extras.
  Samples sample_under_load(const Case& c, const std::vector<Workload>& workloads, Entry& entry);
  /// Keeps it as the counters' problem if it is the first; throws it where the GPU is lost.
  void note(const CounterError& error);

  const DeviceFacts& device_;
  TimingPolicy policy_;
  Stream stream_;
  Context context_;
  Sampler sampler_;
  TelemetrySampler telemetry_;
  ExitCode case_failure_ = ExitCode::ok;
  std::optional<Error> counter_problem_;
};

}  // namespace fathom
