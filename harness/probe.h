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
#include "harness/campaign.h"
#include "harness/device_facts.h"
#include "harness/energy.h"
#include "results/findings.h"

namespace fathom {

/// The two sizes of a run: `quick` ends within a minute and is part of `standard` (on the command
/// line: `default`), which ends within three.
enum class Suite { quick, standard };

/// What a probe takes on its command line beside what every probe takes.
struct ProbeOption {
  enum class Kind { whole_number, number, text, flag };
  std::string name;         ///< "patterns": --patterns N
  std::string description;  ///< for --help, without the defaults
  // Of a whole number:
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
  /// Of one of the probe's own whole numbers; throws std::out_of_range for a name that it did not
  /// declare.
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
  /// For metrics that events do not measure: the metric's value, as a rule from what the last launch
  /// wrote of its own clock. Empty: the harness times the launch with events.
  std::function<double()> read_sample;
  /// What `read_sample` was timed with: "clock64" or "globaltimer" by the kernel itself, or
  /// "steady_clock": then it does the work anew and times the host (harness/host_timer.h).
  std::string sample_timer = "clock64";
  /// The launch itself waits for the GPU, or ties streams of several GPUs together: it cannot be held
  /// back behind other work nor captured into a graph. It should then take long against the microseconds
  /// of a launch, or repeat what it times.
  bool host_paced = false;
  /// Of what a graph cannot hold (cudaMemcpyPeerAsync) a sample is one launch, however short.
  bool capturable = true;
  /// What a case that is measured by its energy runs over and over in place of `launch`: the same work on
  /// data that nobody can check. Empty: `launch` itself.
  std::function<void()> load;
  /// Further figures after the last sample; may be empty.
  std::function<std::map<std::string, double>()> extras;
  /// What it runs, in words by name, asked for after the last sample too; may be empty. They go to the
  /// entry's notes, or to the opponent's.
  std::function<std::map<std::string, std::string>()> notes;
  /// A vector-valued result of the last launch, in the case's `profile_unit`, read after the last
  /// sample; finite values only. May be empty.
  std::function<std::vector<double>()> profile;
};

/// State of the caches before each timed launch. `cold`: the L2 is flushed before each launch,
/// outside the timing. `hot`: nothing is done between launches.
enum class CacheState { hot, cold };

/// A counter that a case wants collected, by role (harness/counters/catalogue.h), and what it
/// should read for one launch. `tolerance` is relative; 0 means equal.
struct CounterRequest {
  std::string role;
  std::optional<double> expected;
  double tolerance = 0;
  std::string model;
};

/// Source lines of a kernel whose share of the warps' waiting a case wants, by sampling of the
/// program counter. It becomes the entry's counters `<name>` and, for each stall reason that matters
/// there, `<name>_<reason>`: percent of all samples of waiting warps.
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

/// How surely a case is measured, where that is less than the program's policy (harness/timing.h): of a
/// curve of hundreds of points none needs what a headline needs. The policy's own limits still hold.
struct Precision {
  double relative_half_width = 0.005;
  int min_samples = 6;
  double time_limit_s = 0.05;  ///< rests included
  double rest = 0;             ///< TimingPolicy::rest
};

/// How long a case is kept under load instead of being timed launch by launch.
struct SustainedLoad {
  double lead_in_s = 2;  ///< before anything is measured
  double turn_s = 0.5;   ///< half a second at least, for some steps of the energy counter
  int turns = 8;         ///< of each workload
  /// Of each turn before its energy counts: the counter forgets what the turn before took. Less
  /// than EnergyLoop's, since no clock has to settle.
  double settle_s = 0.15;
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
  std::string profile_axis, profile_unit;  ///< of the workload's `profile`, where it has one
  /// Measured as the GPU runs under lasting load: the metric then has a sample for each turn, and
  /// the extras say the joules of one launch, `joules`, and of the opponents', `joules:<name>`; how
  /// surely is `joules_half_width[:<name>]`, a share of them (harness/sustained.h).
  std::optional<SustainedLoad> sustained;
  std::map<std::string, double> extras;  ///< known before the run, e.g. theoretical occupancy
  std::map<std::string, std::string> notes;  ///< of the entry, known before the run
  std::function<Workload(Context&)> prepare;
  std::vector<OpponentCase> opponents;
  /// In place of timing: the metric is an energy or a power. `value`, `cache`, `precision` and opponents are
  /// unused then; `prepare` may give a workload without a launch, for a GPU at rest.
  std::optional<EnergyLoop> energy;
  /// In place of a workload: the harness then uses of the above only name, axes, suite and extras.
  std::optional<Campaign> campaign;
};

/// `work` per launch (bytes, operations) over its seconds.
inline std::function<double(double)> rate(double work) {
  return [work](double seconds) { return work / seconds; };
}

/// One question put to the GPU. A probe never formats output and never reads a clock: it says what
/// to run and what to expect, and concludes from the entries that come back.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual std::string name() const = 0;      ///< "copy_bandwidth"
  virtual std::string program() const { return "probe_" + name(); }  ///< the binary's file name
  /// What `fathom run`'s suites choose by: "core", "atlas", ... (cmake/Suites.cmake, which has them all).
  std::string group() const;
  virtual std::string question() const = 0;  ///< one sentence with a question mark
  virtual std::string method() const = 0;    ///< one paragraph for "how it was measured"
  /// Those that it decides; of "S2" and "S2 (stores)" the first.
  virtual std::vector<std::string> claim_ids() const {
    std::vector<std::string> ids;
    for (const Claim& claim : conclude({}).claims)
      if (claim.id.find(' ') == std::string::npos) ids.push_back(claim.id);
    return ids;
  }
  /// Its own options on the command line; their values come with the Context.
  virtual std::vector<ProbeOption> options() const { return {}; }
  /// Throws Error(bad_input) for values of its own options that do not go together, before the GPU is
  /// asked for anything.
  virtual void check_options(const OptionValues&) const {}
  /// What the whole run should be read with, one sentence each; asked for once, after `cases_for`.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// The same of what is no warning; also shown on the terminal. Asked for whenever the document is
  /// written, since it may depend on what was measured.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Arguments that show, in --help, what is particular to the probe.
  virtual std::string example() const { return "--benchmark_filter=1GiB --no-counters"; }
  /// Of what --help says besides, whole lines with an empty one at the end; may be empty.
  virtual std::string more_help() const { return ""; }
  /// Whether any case has `line_shares`: modules must be watched before any is loaded.
  virtual bool samples_lines() const { return false; }
  /// The sweep for this GPU, both suites; a case that the chip cannot run is left out.
  virtual std::vector<Case> cases(const DeviceFacts& device) const = 0;
  /// The same with the values of the probe's own options, for a probe whose cases depend on them.
  virtual std::vector<Case> cases_for(const DeviceFacts& device, const OptionValues&) const {
    return cases(device);
  }
  /// `entries` are this probe's, in order; some may lack (filtered, failed): say not_measured then.
  virtual Findings conclude(std::span<const Entry> entries) const = 0;
};

/// A probe without a state of its own: words, the cases part by part, and what they say.
struct ProbeParts {
  const char* name;
  const char* question;
  std::string method;
  Conclude conclude;
  std::vector<std::vector<Case> (*)(const DeviceFacts&)> cases;  ///< one after the other
  std::vector<ProbeOption> options{};
  bool samples_lines = false;
};
class PartsProbe : public Probe {
 public:
  explicit PartsProbe(const ProbeParts& parts) : parts_(parts) {}
  std::string name() const override { return parts_.name; }
  std::string question() const override { return parts_.question; }
  std::string method() const override { return parts_.method; }
  std::vector<ProbeOption> options() const override { return parts_.options; }
  bool samples_lines() const override { return parts_.samples_lines; }
  std::vector<Case> cases(const DeviceFacts& device) const override {
    std::vector<Case> all;
    for (const auto part : parts_.cases)
      for (Case& c : part(device)) all.push_back(std::move(c));
    return all;
  }
  Findings conclude(std::span<const Entry> entries) const override {
    return parts_.conclude(entries);
  }

 private:
  const ProbeParts& parts_;
};

/// The probe of this program; defined once per probe binary by FATHOM_PROBE: its type, and what that
/// is made of.
std::unique_ptr<Probe> make_probe();

#ifndef FATHOM_PROBE_GROUP
#define FATHOM_PROBE_GROUP ""  // in no suite
#endif
#define FATHOM_PROBE(Type, ...)                         \
  std::unique_ptr<::fathom::Probe> fathom::make_probe() { \
    return std::make_unique<Type>(__VA_ARGS__);           \
  }                                                       \
  std::string fathom::Probe::group() const { return FATHOM_PROBE_GROUP; }

}  // namespace fathom
