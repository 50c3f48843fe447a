#include "tools/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "results/document_io.h"
#include "results/files.h"
#include "results/text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A line on the terminal in place of the last one; nothing where standard error is no terminal.
void draw(const std::string& line) {
  if (isatty(STDERR_FILENO) != 1) return;
  constexpr std::size_t columns = 79;
  fmt::print(stderr, "\r\033[K{}", line.substr(0, columns));
  std::fflush(stderr);
}

/// Whether a probe program ends so; anything else is no answer of ours.
bool is_of_probes(ExitCode code) {
  return code <= ExitCode::bad_input ||
         (code >= ExitCode::output_unwritable && code <= ExitCode::gpu_lost) ||
         code == ExitCode::interrupted;
}

/// Whether nothing can be measured after a probe that ended for this cause.
bool stops_the_run(ExitCode cause) {
  const auto stops = {ExitCode::interrupted, ExitCode::gpu_lost,  ExitCode::output_unwritable,
                      ExitCode::output_full, ExitCode::no_driver, ExitCode::driver_too_old};
  return std::ranges::count(stops, cause) > 0;
}

/// A probe of a run, and its program while that is up.
struct Probe {
  ProbeBinary binary;
  fs::path document{}, log{};
  std::unique_ptr<ChildProcess> child{};
  Clock::time_point start{};  ///< of measuring
};

/// One document and one exit code of what comes of the probes.
class Run {
 public:
  Run(const std::vector<ProbeBinary>& probes, const RunArguments& options, const fs::path& folder,
      const Fingerprint& fingerprint, SignalInbox& inbox)
      : options_(options), suite_(*find_run_suite(options.suite)), inbox_(inbox) {
    for (const ProbeBinary& probe : probes)
      probes_.push_back({probe, folder / "parts" / (probe.name + ".json"),
                         folder / "logs" / (probe.name + ".log")});
    limit_ = std::chrono::seconds(options.time_limit_s > 0
                                      ? std::max(1L, std::lround(options.time_limit_s))
                                      : suite_.probe_limit_s);
    // Where no probe leaves a document, the report still says on what it was tried.
    document_.date = utc_time(std::chrono::system_clock::now());
    document_.fathom_version = version();
    document_.fathom_commit = commit();
    document_.seed = std::to_string(options.seed);
    document_.num_cpus = std::thread::hardware_concurrency();
    document_.fingerprint = fingerprint;
  }

  Measured measure(bool together) {
    if (together) start_held();
    for (Probe& probe : probes_) {
      if (inbox_.interrupts() > 0 && !stopper_)
        stopper_ = {ProbeStatus::interrupted, "interrupted", ExitCode::interrupted};
      if (stopper_) {  // it would end the others, too
        probe.child.reset();
        causes_.push_back(stopper_->cause);
        miss(probe,
             stopper_->cause == ExitCode::interrupted ? stopper_->status : ProbeStatus::failed,
             "not started: " + stopper_->reason);
        continue;
      }
      probe.start = Clock::now();
      show(probe, "");
      try {
        if (!probe.child) start(probe);
        measure(probe);
      } catch (const Error& error) {  // it could not be started: the others' results stay
        add(probe, {ProbeStatus::failed, error.what(), error.code()}, std::nullopt);
      }
    }
    std::ranges::stable_sort(document_.probes, {}, &ProbeSummary::name);
    document_.elapsed_s = seconds_since(start_);
    document_.executable = "fathom";
    document_.suite = options_.suite;  // the parts name the size of their sweep
    if (!options_.counters_of.empty())
      document_.warnings.push_back(
          fmt::format("Hardware counters were asked for of {} only (--counters-of); the other "
                      "probes' cases that only counters can decide were left out.",
                      fmt::join(options_.counters_of, ", ")));
    return {std::move(document_), std::move(causes_)};
  }

 private:
  /// Throws Error where its program cannot be started or its log cannot be written.
  void start(Probe& probe, bool held = false) {
    fs::remove(probe.document);  // of an earlier run into the same folder
    const FileDescriptor log = create_file(probe.log);
    ChildStart child{probe.binary.program,
                     {"--suite", suite_.sweep(), "--out", probe.document, "--device",
                      std::to_string(options_.device), "--seed", std::to_string(options_.seed)},
                     log.get(),
                     log.get()};
    child.socket_flags = {"--progress-fd"};
    if (held) child.socket_flags.push_back("--start-fd");
    // Where only some probes of a run collect counters: whether this is one of the others.
    const auto& counting = options_.counters_of;
    const bool left_out = !counting.empty() && std::ranges::count(counting, probe.binary.name) == 0;
    if (options_.no_counters || left_out) child.arguments.push_back("--no-counters");
    const auto& flags = options_.benchmark_flags;
    child.arguments.insert(child.arguments.end(), flags.begin(), flags.end());
    // Such a case would fail without its counters, and another run decides it.
    if (left_out) child.environment = {{timed_only_variable, "1"}};
    probe.child = std::make_unique<ChildProcess>(std::move(child));
  }

  /// Starts all, which are up at the same time and measure in turn: CUDA takes each of them most of
  /// a second to start. Where one cannot be started, is not ready within its time limit, or
  /// lacks room, each is started again in its turn.
  void start_held() {
    Children children;
    try {
      for (Probe& probe : probes_) {
        start(probe, true);
        children.push_back(probe.child.get());
      }
    } catch (const Error&) {
    }
    bool all_ready =
        wait_until_ready(children, inbox_, limit_).empty() && children.size() == probes_.size();
    for (ChildProcess* child : children)
      if (const auto end = child->try_end())
        all_ready &=
            !end->is_exit(ExitCode::gpu_busy) && !end->is_exit(ExitCode::gpu_out_of_memory);
    // Before the first one begins: what becomes ready later would do it beside a measurement.
    if (!all_ready)
      for (Probe& probe : probes_) probe.child.reset();
  }

  /// Shows what is being measured and how long the run may still take. `line` is what the probe
  /// writes to the descriptor of --progress-fd, "done total elapsed_s name"; empty: none yet.
  void show(const Probe& probe, const std::string& line) {
    const auto index = &probe - probes_.data();
    const std::string what =
        fmt::format("[{}/{}] {}: ", index + 1, probes_.size(), probe.binary.name);
    std::istringstream words(line);
    double cases = 0, all_cases = 0, elapsed_s = 0;
    std::string name;
    if (!(words >> cases >> all_cases >> elapsed_s) || !std::getline(words >> std::ws, name))
      return draw(what + "starting");
    // As if probes took equally long, since how many cases later ones have, only they know.
    const double done = static_cast<double>(index) + cases / std::max(1.0, all_cases);
    const double left = seconds_since(start_) / done * (static_cast<double>(probes_.size()) - done);
    draw(fmt::format("{}{} of {}, {}{}", what, cases, all_cases,
                     done > 0 ? fmt::format("about {:.0f} s left, ", left) : "", name));
  }

  /// Lets one begin if it is held, waits for its end, and adds what it left.
  void measure(Probe& probe) {
    const auto beside = std::ranges::count_if(probes_, [&](const Probe& other) {
      return &other != &probe && other.child && !other.child->try_end();
    });
    probe.child->release(static_cast<std::size_t>(beside));
    const auto look = [&] {
      while (const auto line = probe.child->next_line()) show(probe, *line);
    };
    const ProcessEnd end = supervise(*probe.child, inbox_, {.limit = limit_, .look = look});
    probe.child.reset();
    std::optional<Document> document;
    try {
      if (fs::exists(probe.document)) document = read_document(probe.document);
    } catch (const Error&) {  // a torn document is no result: the probe is reported as crashed
    }
    const bool has_filter = std::ranges::any_of(options_.benchmark_flags, [](const auto& flag) {
      return flag.starts_with("--benchmark_filter");
    });
    // The filter fits none of its cases.
    if (!document && has_filter && end.is_exit(ExitCode::bad_input)) return draw("");
    const ProbeOutcome outcome = judge_probe(end, document, last_line_of(probe.log), limit_);
    if (document)
      for (ProbeSummary& summary : document->probes) {
        summary.status = outcome.status;
        summary.status_reason = outcome.reason;
      }
    add(probe, outcome, document);
  }

  /// Says how a probe ended, and merges what it left. A part that does not fit (a driver update or
  /// another build in the middle of the run) costs its own results only.
  void add(const Probe& probe, ProbeOutcome outcome, std::optional<Document> left) {
    if (stops_the_run(outcome.cause)) stopper_ = outcome;
    try {
      if (left && has_parts_) {
        add_part(document_, *left);
      } else if (left) {
        left->probes.insert(left->probes.end(), document_.probes.begin(), document_.probes.end());
        document_ = *left;
        has_parts_ = true;
      }
    } catch (const Error& error) {
      outcome = {ProbeStatus::failed, error.what(), ExitCode::incomplete};
      left.reset();
    }
    causes_.push_back(outcome.cause);
    if (!left) miss(probe, outcome.status, outcome.reason);
    draw("");
    print_out(fmt::format("{}: {} cases in {:.0f} s{}\n", probe.binary.name,
                          left ? left->entries.size() : 0, seconds_since(probe.start),
                          outcome.reason.empty() ? "" : "; incomplete: " + clean(outcome.reason)));
  }

  /// A summary for a probe that left no document.
  void miss(const Probe& probe, ProbeStatus status, const std::string& reason) {
    ProbeSummary& summary = document_.probes.emplace_back();
    summary.name = probe.binary.name;
    summary.status = status;
    summary.status_reason = reason;
  }

  const RunArguments& options_;
  const RunSuite& suite_;
  SignalInbox& inbox_;
  Clock::time_point start_ = Clock::now();
  std::chrono::seconds limit_{};  ///< of a probe, and for becoming ready where it is held
  std::vector<Probe> probes_;
  Document document_;
  bool has_parts_ = false;  ///< in the document
  std::vector<ExitCode> causes_;
  std::optional<ProbeOutcome> stopper_;
};

}  // namespace

ProbeOutcome judge_probe(const ProcessEnd& end, const std::optional<Document>& left,
                         const std::string& last_words, std::chrono::seconds limit) {
  using enum ProbeStatus;
  const auto code = static_cast<ExitCode>(end.status);
  const bool has_ended = end.signal == 0 && is_of_probes(code);
  if (has_ended && left && !left->probes.empty() && left->probes.front().status == complete)
    return {complete, "", code};
  const std::string log = last_words.empty() ? "" : "; the last line of its log: " + last_words;
  const std::string late = fmt::format("it hit its time limit of {} s", limit.count());
  if (end.unkillable)
    return {timed_out,
            late + " and cannot be ended, since the driver holds it: the GPU needs a reset",
            ExitCode::gpu_lost};
  if (end.stopped == Stopped::time_limit)
    return {timed_out, late + " (--time-limit)" + log, ExitCode::probe_timed_out};
  if (end.stopped == Stopped::interrupt || end.is_exit(ExitCode::interrupted))
    return {interrupted, "interrupted", ExitCode::interrupted};
  const std::string how = "it ended with " + end.describe();
  if (!has_ended || code == ExitCode::ok || code == ExitCode::check_failed)
    return {crashed, how + " and without its complete results" + log, ExitCode::probe_crashed};
  return {left && !left->entries.empty() ? partial : failed, last_words.empty() ? how : last_words,
          code};
}

ExitCode combined_exit_code(const std::vector<ExitCode>& causes) {
  std::set<ExitCode> distinct(causes.begin(), causes.end());
  distinct.erase(ExitCode::ok);
  // A figure that is wrong must not hide behind one that is missing.
  for (const ExitCode above_all : {ExitCode::interrupted, ExitCode::check_failed})
    if (distinct.contains(above_all)) return above_all;
  if (distinct.size() > 1) return ExitCode::incomplete;
  return distinct.empty() ? ExitCode::ok : *distinct.begin();
}

Measured measure_probes(const std::vector<ProbeBinary>& probes, const RunArguments& options,
                        const fs::path& folder, const Fingerprint& fingerprint,
                        SignalInbox& inbox) {
  // An idle context takes half a GiB. Together they may take a sixteenth of the memory, since the
  // probes size their arrays for the rest.
  const auto needed = static_cast<std::int64_t>(probes.size()) * (std::int64_t{8} << 30);
  const bool together = options.start_together && fingerprint.memory_bytes.value_or(0) >= needed;
  return Run(probes, options, folder, fingerprint, inbox).measure(together);
}

}  // namespace fathom
