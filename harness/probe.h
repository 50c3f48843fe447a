#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/buffers.h"
#include "harness/device_facts.h"
#include "results/error.h"
#include "results/findings.h"

namespace fathom {

/// The two sizes of a run: `quick` ends within a minute and is part of `standard` (on the command
/// line: `default`), which ends within three.
enum class Suite { quick, standard };

/// What a probe takes on its command line beside what every probe takes.
struct ProbeOption {
  enum class Kind { whole_number, number, text, flag };
  std::string name;           ///< "patterns": --patterns N
  std::string description{};  ///< for --help, without the defaults
  // If it is a whole number:
  std::int64_t quick = 0, standard = 0;  ///< its value in each suite unless it is given
  std::int64_t least = 1, most = 0;      ///< 0 at least
  Kind kind = Kind::whole_number;
  /// Has no value unless it is given; so has every number, text and flag (1 where it is given).
  bool optional = false;
  std::string value_name = "TEXT";  ///< of a text, for --help: "FILE"
};

using OptionValue = std::variant<std::int64_t, double, std::string>;

/// Values of a probe's own options, by name; those without a value are not in it.
using OptionValues = std::map<std::string, OptionValue>;

/// What a probe's workloads may use of the GPU; one per program.
class Context {
 public:
  Context(const DeviceFacts& device, cudaStream_t stream, std::uint64_t seed,
          OptionValues options = {})
      : device_(device),
        stream_(stream),
        buffers_(device.ordinal, stream, seed),
        seed_(seed),
        options_(std::move(options)) {}
  const DeviceFacts& device() const { return device_; }
  cudaStream_t stream() const { return stream_; }
  BufferPool& buffers() { return buffers_; }
  std::uint64_t seed() const { return seed_; }
  /// The value of one of the probe's own whole numbers; throws std::out_of_range for a name that it
  /// did not declare.
  std::int64_t option(const std::string& name) const {
    return std::get<std::int64_t>(options_.at(name));
  }

 private:
  const DeviceFacts& device_;
  cudaStream_t stream_;
  BufferPool buffers_;
  std::uint64_t seed_;
  OptionValues options_;
};

/// One way to do a case's work on the GPU. `launch` is asynchronous on the context's stream and
/// idempotent: the harness launches it as often as it likes, for timing and for counter passes.
struct Workload {
  std::function<void()> launch;
  /// Overwrites the outputs with a pattern that no right answer has (asynchronous). May be empty
  /// only where the kernel has no output but its own timing.
  std::function<void()> poison;
  /// After one launch since `poison`: nothing if the output is right, else what is wrong.
  std::function<std::optional<std::string>()> verify;
  /// For metrics that events do not measure: the metric's value, as a rule from what the last
  /// launch wrote of its own clock. Empty: the harness times the launch with events.
  std::function<double()> read_sample;
  /// What `read_sample` was timed with: "clock64" or "globaltimer" by the kernel itself, or
  /// "steady_clock": then it does the work anew and times the host (harness/host_timer.h).
  std::string sample_timer = "clock64";
  /// The launch itself waits for the GPU, or ties streams of several GPUs together: it cannot be
  /// held back behind other work nor captured into a graph. It should then take long against the
  /// microseconds of a launch, or repeat what it times.
  bool host_paced = false;
  /// False for what a graph cannot hold (cudaMemcpyPeerAsync): a sample is one launch, however
  /// short.
  bool capturable = true;
  /// What a case that is measured by its energy runs over and over in place of `launch`: the same
  /// work on data that nobody can check. Empty: `launch` itself.
  std::function<void()> load;
  /// Further figures after the last sample; may be empty.
  std::function<std::map<std::string, double>()> extras;
  /// What it runs, in words by name, asked for after the last sample too; may be empty. They go to
  /// the entry's notes, or to the opponent's.
  std::function<std::map<std::string, std::string>()> notes;
  /// A vector-valued result of the last launch, in the case's `profile_unit`, read after the last
  /// sample; finite values only. May be empty.
  std::function<std::vector<double>()> profile;
};

/// State of the caches before each timed launch. `cold`: the L2 is flushed before each launch,
/// outside the timing. `hot`: nothing is done between launches.
enum class CacheState { hot, cold };

/// A counter that a case wants collected, by role (harness/counters/catalogue.h), and what it
/// should read for one launch. `tolerance` is relative; 0 means equal, `shown_alone` or more that
/// it is not judged.
struct CounterRequest {
  std::string role;
  std::optional<double> expected{};  ///< empty: only shown
  double tolerance = 0;
  std::string model{};
};

/// Source lines of a kernel whose share of the warps' waiting a case wants, by sampling of the
/// program counter. It becomes the entry's counters `<name>` and, for each stall reason that
/// matters there, `<name>_<reason>`: percent of all samples of waiting warps.
struct LineShare {
  std::string name;  ///< "stall_share_store"
  std::string file;  ///< file name only
  std::vector<unsigned> lines;
};

/// Another implementation of the case's work, timed alternately with it (A B B A).
struct OpponentCase {
  std::string name;
  std::function<Workload(Context&)> prepare;
};

/// How surely a case is measured, where that is less than the program's policy (harness/timing.h):
/// of a curve of hundreds of points none needs what a headline needs. The policy's own limits still
/// hold.
struct Precision {
  double relative_half_width = 0.005;
  int min_samples = 6;
  double time_limit_s = 0.05;  ///< rests included
  double rest = 0;             ///< TimingPolicy::rest
};

/// The usual way to measure a case.
struct LaunchByLaunch {};

/// How long a case is kept under load instead of being timed launch by launch.
struct SustainedLoad {
  double lead_in_s = 2;  ///< before anything is measured
  double turn_s = 0.5;   ///< half a second at least, for some steps of the energy counter
  int turns = 8;         ///< of each workload
  /// Before a turn's energy counts: the counter forgets what the turn before took. Less
  /// than EnergyLoop's, since no clock has to settle.
  double settle_s = 0.15;
};

/// What the GPU took over some time, and what it did in it.
struct EnergyReading {
  double joules = 0;
  double seconds = 0;
  double work = 0;  ///< in the loop's own unit; 0 where nothing ran

  double watts() const { return joules / seconds; }
};

/// A case that is measured by its energy: its workload runs without a gap for seconds on end, since
/// the GPU's energy counter moves only every 100 ms or so. The metric is joules per `work`. Where
/// the GPU has no energy counter, or one that stands still, the case fails.
struct EnergyLoop {
  double work = 0;       ///< of one launch: bytes, FLOPs, ...; 0: the metric is the power in watts
  double seconds = 0.8;  ///< of the part that counts: eight steps of the counter, two a window
  /// Before it: clocks settle, and the counter's averages forget what was before.
  double settle_s = 0.35;
  /// Further figures of the entry, from the whole part that counts; may be empty.
  std::function<std::map<std::string, double>(const EnergyReading& whole)> figures;
};

class CounterSession;

/// False once the user has asked for an end.
using KeepGoing = std::function<bool()>;

/// A case that is not timed: trials, each held against what must come out.
struct Campaign {
  std::vector<std::string> roles;  ///< hardware counters that it compares; may be none
  /// Runs all trials, or those until `keep_going` says no, and then fills the entry: the metric's
  /// value is a count, `iterations` the trials. Gives what is wrong with an output, if anything is.
  /// `counters` collects `roles`; where it cannot, it is null and `no_counters` says why: then
  /// outputs are checked and nothing is compared by `roles`. Without roles it is null and
  /// `no_counters` empty.
  std::function<std::optional<std::string>(Context&, CounterSession* counters,
                                           const std::string& no_counters,
                                           const KeepGoing& keep_going, Entry& entry)>
      run;
  bool for_a_claim = false;  ///< left out where nothing but timings is wanted
};

/// One point of a probe's sweep.
struct Case {
  std::string name;  ///< path below the probe's name, e.g. "type:float4/block:256/size:1GiB"
  Axes axes;
  Suite suite = Suite::standard;  ///< the smallest suite that has it
  Metric metric;
  /// The metric's value from the seconds of one launch; see `rate`. Unused with `read_sample`.
  std::function<double(double seconds)> value;
  std::optional<Bound> bound;
  std::optional<Expectation> expected;
  CacheState cache = CacheState::hot;
  std::vector<CounterRequest> counters;
  std::vector<LineShare> line_shares;
  std::optional<Precision> precision;
  std::string profile_axis, profile_unit;    ///< of the workload's `profile`, where it has one
  std::map<std::string, double> extras;      ///< known before the run, e.g. theoretical occupancy
  std::map<std::string, std::string> notes;  ///< of the entry, known before the run
  std::function<Workload(Context&)> prepare;
  std::vector<OpponentCase> opponents;
  /// How it is measured.
  ///  - LaunchByLaunch: each sample is one launch, or one graph of several.
  ///  - SustainedLoad: as the GPU runs under lasting load. The metric has a sample for each turn,
  ///    and the extras say the joules of one launch, `joules`, and of the opponents',
  ///    `joules:<name>`; `joules_half_width[:<name>]` is their uncertainty, as a share.
  ///  - EnergyLoop: the metric is an energy or a power. `value`, `cache`, `precision` and opponents
  ///    are unused; `prepare` may give a workload without a launch, for a GPU at rest.
  ///  - Campaign: no workload; only name, axes, suite, metric and extras are used beside it.
  std::variant<LaunchByLaunch, SustainedLoad, EnergyLoop, Campaign> mode;
};

/// `work` per launch (bytes, operations) over its seconds.
inline std::function<double(double)> rate(double work) {
  return [work](double seconds) { return work / seconds; };
}

/// One question put to the GPU: what to run, what to expect, and what is concluded from the entries
/// that come back. It never formats output and never reads a clock.
struct Probe {
  std::string name{};      ///< "copy_bandwidth"
  std::string question{};  ///< one sentence with a question mark
  std::string method{};    ///< one paragraph for "how it was measured"
  /// `entries` are this probe's, in order; some may lack (filtered, failed): say not_measured then.
  Conclude conclude{};
  /// The sweep for this GPU, both suites, part by part; a case that the chip cannot run is left
  /// out.
  std::vector<std::vector<Case> (*)(const DeviceFacts&)> cases{};
  /// Its own options on the command line; their values come with the Context.
  std::vector<ProbeOption> options{};
  /// Whether any case has `line_shares`: modules must be watched before any is loaded.
  bool samples_lines = false;
  /// What the program does instead of measuring where a case starts it once more (`--child`): work
  /// after which its process can use the GPU no longer.
  ExitCode (*child)(int device) = nullptr;
  std::string program = "probe_" + name;  ///< the binary's file name
  /// Arguments that show, in --help, what is particular to the probe.
  std::string example = "--benchmark_filter=1GiB --no-counters";
  std::string more_help{};  ///< in --help, whole lines with an empty one at the end

  // For a probe whose cases depend on its own options; each may be empty.

  /// Throws Error(bad_input) for values that do not go together, before the GPU is asked for
  /// anything.
  std::function<void(const OptionValues&)> check_options{};
  /// In place of `cases`.
  std::function<std::vector<Case>(const DeviceFacts&, const OptionValues&)> cases_for{};
  /// What the whole run should be read with, one sentence each; asked for once, after `cases_for`.
  std::function<std::vector<std::string>()> warnings{};
  /// The same of what is no warning; also shown on the terminal. Asked for whenever the document is
  /// written, since it may depend on what was measured.
  std::function<std::vector<std::string>()> notes{};
};

#ifndef FATHOM_MAKE_PROBE
#define FATHOM_MAKE_PROBE make_probe  // has another name where one program has several probes
#endif
/// The probe of this program; defined once per probe binary by FATHOM_PROBE.
Probe FATHOM_MAKE_PROBE();
#define FATHOM_PROBE(probe) \
  fathom::Probe fathom::FATHOM_MAKE_PROBE() { return probe; }

/// The program that every probe binary is: Google Benchmark's flags (`--benchmark_*`) and Fathom's
/// own, the device lock, the sweep, the counters, the result document. Throws Error for everything
/// that leaves no result at all.
ExitCode probe_main(int argc, char** argv, const Probe& probe);

}  // namespace fathom
