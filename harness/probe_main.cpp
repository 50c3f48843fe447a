#include "harness/probe.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <string_view>

#include "harness/counters/pc_sampling.h"
#include "harness/cuda_check.h"
#include "harness/device_facts.h"
#include "harness/host_timer.h"
#include "harness/probe_options.h"
#include "harness/runner.h"
#include "results/document_io.h"
#include "results/files.h"
#include "results/text.h"

namespace fathom {
namespace {

volatile std::sig_atomic_t interrupt_requested = 0;

extern "C" void request_interrupt(int) { interrupt_requested = 1; }

TimingPolicy policy_for(const ProbeOptions& options) {
  TimingPolicy policy;
  if (options.suite == Suite::quick) policy.time_limit_s = 0.5;
  if (const char* limit = std::getenv(sampling_limit_variable)) {
    const double limit_s = std::strtod(limit, nullptr);
    if (limit_s > 0) policy.time_limit_s = std::min(policy.time_limit_s, limit_s);
  }
  if (options.time_limit_s > 0) policy.time_limit_s = options.time_limit_s;
  return policy;
}

std::vector<Case> cases_of(const Probe& probe, const DeviceFacts& device,
                           const OptionValues& values) {
  if (probe.cases_for) return probe.cases_for(device, values);
  std::vector<Case> all;
  for (const auto part : probe.cases)
    for (Case& c : part(device)) all.push_back(std::move(c));
  return all;
}

FileDescriptor lock_of(const DeviceFacts& device, const ProbeOptions& options) {
  return lock_gpu(device.fingerprint.gpu_uuid_hash, std::chrono::hours(options.wait ? 1 : 0));
}

/// One program's run of its probe.
class ProbeRun {
 public:
  ProbeRun(const Probe& probe, const ProbeOptions& options, const DeviceFacts& device,
           std::optional<OutputFile> out)
      : probe_(probe),
        options_(options),
        device_(device),
        cases_(cases_of(probe, device, options.own)),
        runner_(device, options.seed, policy_for(options), options.own),
        out_(std::move(out)) {
    document_.date = utc_time(std::chrono::system_clock::now());
    document_.executable = probe.program;
    document_.fathom_version = version();
    document_.fathom_commit = commit();
    document_.suite = options.suite == Suite::quick ? "quick" : "default";
    document_.seed = std::to_string(options.seed);
    const benchmark::CPUInfo& cpu = benchmark::CPUInfo::Get();
    document_.num_cpus = cpu.num_cpus;
    document_.mhz_per_cpu = cpu.cycles_per_second / 1e6;
    document_.cpu_scaling_enabled = cpu.scaling == benchmark::CPUInfo::ENABLED;
    document_.google_benchmark_version = FATHOM_BENCHMARK_VERSION;
    document_.fingerprint = device.fingerprint;
    document_.bounds = device.bounds;
    document_.warnings = device.warnings;
    if (probe.warnings)
      for (std::string& warning : probe.warnings())
        document_.warnings.push_back(std::move(warning));
    register_cases();
  }

  ExitCode run() {
    if (options_.counters && !options_.list_only) sample_lines();
    if (!options_.list_only) wait_for_start();
    const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
    if (options_.list_only) return ExitCode::ok;
    if (!fatal_ && interrupt_requested == 0 && (ran == 0 || measured_.empty())) {
      fail(ExitCode::bad_input,
           "No case of {} matches the filter; --benchmark_list_tests "
           "lists their names.",
           probe_.program);
    }
    ExitCode code = fatal_ ? fatal_->code() : runner_.case_failure();
    if (!fatal_ && interrupt_requested == 0 && options_.counters) {
      collect_counters();
      const std::optional<Error>& problem = runner_.counter_problem();
      if (problem && code == ExitCode::ok) code = problem->code();
    }
    if (interrupt_requested != 0) code = ExitCode::interrupted;
    const bool interrupted = interrupt_requested != 0;
    write(fatal_        ? ProbeStatus::failed
          : interrupted ? ProbeStatus::interrupted
                        : ProbeStatus::complete,
          fatal_        ? fatal_->what()
          : interrupted ? "interrupted by the user"
                        : "");
    for (const std::string& note : document_.notes) std::cerr << "Note: " << note << '\n';
    if (fatal_) throw *fatal_;
    // Whatever else happened, a failed check is what a caller must not miss.
    for (const Measured& m : measured_) {
      const VerdictStatus verdict = m.entry.verdict.status;
      if (code != ExitCode::interrupted &&
          (verdict == VerdictStatus::above_bound || verdict == VerdictStatus::counter_mismatch ||
           verdict == VerdictStatus::wrong_output))
        code = ExitCode::check_failed;
    }
    return code;
  }

 private:
  void register_cases() {
    for (const Case& c : cases_) {
      if (!in_suite(c)) continue;
      ++total_;
      const std::string name = probe_.name + "/" + c.name;
      benchmark::RegisterBenchmark(
          name.c_str(), [this, &c, name](benchmark::State& state) { measure(state, c, name); })
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }

  /// CUDA is up: whoever starts probes on several GPUs need not wait for that on each of them in
  /// turn. Begins at once where nobody holds this back, or is there any more.
  void wait_for_start() {
    const char word = '\n';
    if (options_.start_fd < 0 || send(options_.start_fd, &word, 1, MSG_NOSIGNAL) != 1) return;
    pollfd answer{options_.start_fd, POLLIN, 0};
    while (interrupt_requested == 0 && poll(&answer, 1, 100) <= 0) continue;
    if (interrupt_requested != 0) return;
    unsigned char held_beside = 0;
    if (recv(options_.start_fd, &held_beside, 1, MSG_DONTWAIT) == 1)
      runner_.set_held_beside(held_beside);
    lock_ = lock_of(device_, options_);
    start_ = std::chrono::steady_clock::now();  // to have waited is no part of the measuring
  }

  bool in_suite(const Case& c) const {
    // The gate leaves out what only hardware counters or a claim need, to save its time in each
    // round; a fleet too, where one GPU of a host counts for all.
    const char* timed_only = std::getenv(timed_only_variable);
    const auto* campaign = std::get_if<Campaign>(&c.mode);
    if (campaign != nullptr && (!campaign->roles.empty() || campaign->for_a_claim) &&
        timed_only != nullptr && std::string_view(timed_only) == "1")
      return false;
    return c.suite == Suite::quick || options_.suite == Suite::standard;
  }

  void sample_lines() {
    try {
      std::optional<PcSampler> sampler;
      for (const Case& c : cases_)
        if (in_suite(c) && !c.line_shares.empty())
          line_shares_[&c] = runner_.sample_lines(c, sampler);
    } catch (const Error& error) {
      fatal_ = error;
    }
  }

  /// Google Benchmark keeps no samples and its stopping rule does not see manual time, so the whole
  /// sampling of a case happens inside one iteration.
  void measure(benchmark::State& state, const Case& c, const std::string& name) {
    for ([[maybe_unused]] auto _ : state) {
      if (interrupt_requested != 0 || fatal_) {
        state.SkipWithError(fatal_ ? "the GPU cannot be used any more" : "interrupted");
        break;
      }
      report_progress(name);
      Measured m{&c, {}};
      try {
        const auto keep_going = [] { return interrupt_requested == 0; };
        m.entry = runner_.measure(name, probe_.name, c, options_.counters, keep_going);
      } catch (const Error& error) {
        fatal_ = error;
        state.SkipWithError(error.what());
        break;
      }
      state.SetIterationTime(m.entry.real_time_s);
      if (m.entry.metric.value) {
        state.counters[m.entry.metric.name] = *m.entry.metric.value;
        for (const auto& [extra, value] : m.entry.extras) state.counters[extra] = value;
      } else {
        const std::vector<Counter>& counters = m.entry.counters;
        const std::string why = !m.entry.verdict.reasons.empty() ? m.entry.verdict.reasons[0]
                                : !counters.empty() && !counters[0].reason.empty()
                                    ? counters[0].reason
                                    : "no value";
        state.SkipWithError(why.c_str());
      }
      std::int64_t& index = repetitions_seen_[name];
      m.entry.repetition_index = index++;
      measured_.push_back(std::move(m));
      write(ProbeStatus::partial, "still running");
    }
  }

  void collect_counters() {
    std::vector<Measured*> counted;
    for (Measured& m : measured_)
      if (!m.c->counters.empty() && m.entry.metric.value) counted.push_back(&m);
    done_ = 0;
    total_ = counted.size();
    try {
      runner_.collect_counters(counted, [this](std::size_t done) {
        done_ = done;
        report_progress("counters");
        return interrupt_requested == 0;
      });
      for (Measured& m : measured_) {
        const auto shares = line_shares_.find(m.c);
        if (shares == line_shares_.end() || !m.entry.metric.value) continue;
        m.entry.counters.insert(m.entry.counters.end(), shares->second.begin(),
                                shares->second.end());
      }
    } catch (const Error& error) {
      fatal_ = error;
    }
  }

  void report_progress(const std::string& what) {
    if (options_.progress_fd < 0) return;
    const std::string line = fmt::format("{} {} {:.3f} {}\n", done_++, total_, elapsed_s(), what);
    // Progress is a courtesy: a reader that went away must not stop the measurement.
    [[maybe_unused]] const ssize_t written =
        ::write(options_.progress_fd, line.data(), line.size());
  }

  double elapsed_s() const { return seconds_since(start_); }

  /// Rewrites the whole document, so that a crash loses a few seconds of measuring at most. Not
  /// after every case: writing takes at most a tenth of the time of a sweep of hundreds.
  void write(ProbeStatus status, const std::string& reason) {
    const double from = elapsed_s();
    // What goes to a pipe goes there once.
    if (status == ProbeStatus::partial && (!out_ || out_->is_stream() || from < next_write_s_))
      return;
    document_.entries.clear();
    for (Measured& m : measured_) {
      m.entry.repetitions = repetitions_seen_[m.entry.name];
      judge_entry(m.entry);
      document_.entries.push_back(m.entry);
    }
    ProbeSummary summary;
    summary.name = probe_.name;
    summary.question = probe_.question;
    summary.method = probe_.method;
    summary.status = status;
    summary.status_reason = reason;
    summary.elapsed_s = document_.elapsed_s = elapsed_s();
    if (probe_.notes) document_.notes = probe_.notes();
    document_.probes = {std::move(summary)};
    put_findings(probe_.name, probe_.conclude, document_);
    if (out_) out_->write(to_text(document_));
    next_write_s_ = elapsed_s() + std::max(1.0, 9 * (elapsed_s() - from));
  }

  const Probe& probe_;
  const ProbeOptions& options_;
  const DeviceFacts& device_;
  FileDescriptor lock_;  ///< of one that was held back
  const std::vector<Case> cases_;
  Runner runner_;
  std::optional<OutputFile> out_;
  Document document_;
  std::deque<Measured> measured_;
  std::map<const Case*, std::vector<Counter>> line_shares_;
  std::map<std::string, std::int64_t> repetitions_seen_;
  std::optional<Error> fatal_;
  std::size_t done_ = 0, total_ = 0;
  double next_write_s_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

ExitCode probe_main(int argc, char** argv, const Probe& probe) {
  std::optional<ProbeOptions> options = parse_probe_options(argc, argv, probe);
  if (!options) return ExitCode::ok;
  if (options->child) return probe.child(options->device);
  if (probe.check_options) probe.check_options(options->own);
  std::optional<OutputFile> out;
  if (!options->list_only) out = writable_output(options->out);
  std::vector<char*>& arguments = options->benchmark_arguments;
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) {
    fail(ExitCode::bad_input, "Google Benchmark does not know the flag {}: see {} --help.",
         arguments[1], probe.program);
  }

  // Source lines are known only of modules that were seen as they were loaded, so this comes before
  // anything else that may start CUDA.
  if (probe.samples_lines && options->counters && !options->list_only) {
    try {
      PcSampler::watch_modules();
    } catch (const Error&) {
      // The sampler itself will say in each entry what is wrong.
    }
  }
  const DeviceFacts device = query_device_facts(options->device, options->start_fd >= 0);
  // One that is held back takes the lock once it may begin: until then it only has CUDA up, and
  // whoever started it may hold several of one GPU.
  FileDescriptor lock;
  if (options->start_fd < 0) lock = lock_of(device, *options);
  FATHOM_CUDA(cudaSetDevice(device.ordinal));
  std::signal(SIGINT, request_interrupt);
  std::signal(SIGTERM, request_interrupt);
  return ProbeRun(probe, *options, device, std::move(out)).run();
}

}  // namespace fathom
