#include "tools/probe_runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "results/document_io.h"
#include "results/files.h"
#include "results/program.h"
#include "results/text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start, Clock::time_point end = Clock::now()) {
  return std::chrono::duration<double>(end - start).count();
}

/// A line on the terminal that says what is being measured and how long the run may still take.
/// Writes nothing where standard error is not a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::size_t probes) : probes_(static_cast<double>(probes)) {}
  ~ProgressLine() { clear(); }

  void start_probe(std::size_t index, const std::string& name) {
    index_ = static_cast<double>(index);
    probe_ = fmt::format("[{}/{}] {}: ", index + 1, probes_, name);
    draw(probe_ + "starting");
  }
  void update(const ProbeProgress& progress) {
    // As if probes took equally long, since how many cases later ones have, only they know.
    const double done = index_ + 1.0 * progress.done / std::max(1, progress.total);
    const double left = seconds_since(start_) / done * (probes_ - done);
    draw(fmt::format("{}{} of {}, {}{}", probe_, progress.done, progress.total,
                     done > 0 ? fmt::format("about {} left, ", spoken_duration(left)) : "",
                     progress.name));
  }
  void clear() { draw(""); }

 private:
  void draw(const std::string& text) {
    if (isatty(STDERR_FILENO) != 1 || (text.empty() && !drawn_)) return;
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    fmt::print(stderr, "\r\033[K{}", text.substr(0, known ? size.ws_col - 1u : 79));
    std::fflush(stderr);
    drawn_ = !text.empty();
  }

  double probes_, index_ = 0;
  std::string probe_;  ///< "[1/6] copy_bandwidth: "
  Clock::time_point start_ = Clock::now();
  bool drawn_ = false;
};

/// What a probe program may end with; anything else is no answer of ours.
constexpr ExitCode probe_codes[] = {
    ExitCode::ok,          ExitCode::check_failed,      ExitCode::bad_input,
    ExitCode::gpu_busy,    ExitCode::output_unwritable, ExitCode::output_full,
    ExitCode::no_driver,   ExitCode::driver_too_old,    ExitCode::gpu_out_of_memory,
    ExitCode::interrupted, ExitCode::partitioned_gpu,   ExitCode::counters_unavailable,
    ExitCode::gpu_lost};

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
  Clock::time_point start{}, done{};  ///< of measuring
};

/// One document and one exit code of what comes of the probes.
class Run {
 public:
  Run(const std::vector<ProbeBinary>& probes, const RunArguments& options,
      const OutputFolder& folder, SignalInbox& inbox)
      : options_(options), inbox_(inbox), progress_(probes.size()) {
    for (const ProbeBinary& probe : probes)
      probes_.push_back(
          {probe, folder.parts() / (probe.name + ".json"), folder.logs() / (probe.name + ".log")});
    const int suite_limit = find_run_suite(options.suite)->probe_limit_s;
    limit_ = std::chrono::seconds(
        options.time_limit_s > 0 ? std::max(1L, std::lround(options.time_limit_s)) : suite_limit);
  }

  Measured measure(std::size_t together) {
    Probe* ending = nullptr;  // it has measured, and ends while the next one measures
    const auto finish_ending = [&] {
      if (ending) finish(*std::exchange(ending, nullptr));
    };
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      Probe& probe = probes_[i];
      const std::span from_here = std::span(probes_).subspan(i);
      if (together > 1 && i % together == 0 && !has_to_stop()) {
        finish_ending();
        progress_.start_probe(i, probe.binary.name);
        start_held(from_here.first(std::min(together, from_here.size())));
      }
      if (has_to_stop()) {
        for (Probe& waiting : from_here) waiting.child.reset();
        finish_ending();
        skip(probe);
        continue;
      }
      progress_.start_probe(i, probe.binary.name);
      try {
        if (!probe.child) {
          finish_ending();
          start(probe);
        }
        const bool has_measured = measure(probe);
        finish_ending();
        if (has_measured)
          ending = &probe;
        else
          finish(probe);
      } catch (const Error& error) {  // it could not be started: the others' results stay
        add(probe, {ProbeStatus::failed, error.what(), error.code()}, std::nullopt);
      }
    }
    finish_ending();
    return std::move(measured_);
  }

 private:
  /// Throws Error where its program cannot be started or its log cannot be written.
  void start(Probe& probe, bool held = false) {
    fs::remove(probe.document);  // of an earlier run into the same folder
    const FileDescriptor log = create_file(probe.log);
    ChildStart child{
        probe.binary.program,
        {"--suite", find_run_suite(options_.suite)->sweep, "--out", probe.document, "--device",
         std::to_string(options_.device), "--seed", std::to_string(options_.seed)},
        log.get(),
        log.get()};
    child.held = held;
    child.tells_progress = true;
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

  /// Starts probes that are up at the same time and measure in turn: CUDA takes each of them most
  /// of a second to start. Waits until each is ready, has ended, or has taken its time limit to be
  /// ready, or an interrupt has come. One that could not be started or did not become ready is
  /// started again in its turn, and so are all where there is no room for all of them at once.
  void start_held(std::span<Probe> probes) {
    Children children;
    for (Probe& probe : probes) {
      try {
        start(probe, true);
        children.push_back(probe.child.get());
      } catch (const Error&) {
        probe.child.reset();
      }
    }
    const Children late = wait_for_words(children, inbox_, limit_);
    if (inbox_.interrupts() > 0) return;
    // Before the first one begins: what becomes ready later would do it beside a measurement.
    bool lacked_room = false;
    for (Probe& probe : probes) {
      if (std::ranges::count(late, probe.child.get()) > 0) probe.child.reset();
      const auto end = probe.child ? probe.child->try_end() : std::nullopt;
      // What may be its siblings' fault.
      lacked_room |=
          end && (end->is_exit(ExitCode::gpu_busy) || end->is_exit(ExitCode::gpu_out_of_memory));
    }
    if (lacked_room)
      for (Probe& probe : probes) probe.child.reset();
  }

  /// Lets one that is held begin, and waits until it has measured, or for its end, time limit or an
  /// interrupt. True where it has measured and only has to end: one that is not held never says so.
  bool measure(Probe& probe) {
    const auto beside = std::ranges::count_if(probes_, [&](const Probe& other) {
      return &other != &probe && other.child && !other.child->try_end();
    });
    probe.start = Clock::now();
    probe.child->release(static_cast<std::size_t>(beside));
    const auto show = [&](std::string_view line) {
      if (const auto progress = parse_progress(line)) progress_.update(*progress);
    };
    const bool ended = supervise(Children{probe.child.get()}, inbox_,
                                 {.limit = limit_, .line = show, .until_word = true});
    probe.done = Clock::now();
    return !ended;
  }

  /// Waits for its end, and adds what it left.
  void finish(Probe& probe) {
    const auto left = probe.start + limit_ - Clock::now();
    const ProcessEnd end =
        supervise(*probe.child, inbox_,
                  {.limit = std::chrono::duration_cast<std::chrono::milliseconds>(left)});
    progress_.clear();
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
    if (!document && has_filter && end.is_exit(ExitCode::bad_input)) return;
    const ProbeOutcome outcome = judge_probe(end, document, last_line_of(probe.log), limit_);
    if (document)
      for (ProbeSummary& summary : document->probes) {
        summary.status = outcome.status;
        summary.status_reason = outcome.reason;
      }
    add(probe, outcome, document);
  }

  /// Says how a probe ended, and merges what it left.
  void add(const Probe& probe, const ProbeOutcome& outcome, const std::optional<Document>& left) {
    const std::string& name = probe.binary.name;
    measured_.causes.push_back(outcome.cause);
    if (stops_the_run(outcome.cause)) stopper_ = outcome;
    progress_.clear();
    print_out(fmt::format("{}: {} cases in {}{}\n", name, left ? left->entries.size() : 0,
                          spoken_duration(seconds_since(probe.start, probe.done)),
                          outcome.reason.empty() ? "" : "; incomplete: " + clean(outcome.reason)));
    if (!left) return miss(probe, outcome);
    // A part that does not fit (a driver update or another build in the middle of the run) costs
    // its own results only; its document stays in the folder.
    try {
      if (measured_.document)
        add_part(*measured_.document, *left);
      else
        measured_.document = *left;
    } catch (const Error& error) {
      measured_.causes.push_back(ExitCode::incomplete);
      measured_.all_merged = false;
      print_out(fmt::format("{}: {}\n", name, clean(error.what())));
      miss(probe, {ProbeStatus::failed, error.what()});
    }
  }

  /// One that is not started, once the run is stopped.
  void skip(const Probe& probe) {
    measured_.causes.push_back(stopper_->cause);
    const ProbeStatus status =
        stopper_->cause == ExitCode::interrupted ? ProbeStatus::interrupted : ProbeStatus::failed;
    miss(probe, {status, fmt::format("not started: {}", stopper_->reason)});
  }

  /// A summary for a probe that left no document.
  void miss(const Probe& probe, const ProbeOutcome& outcome) {
    ProbeSummary& summary = measured_.missing.emplace_back();
    summary.name = probe.binary.name;
    summary.question = probe.binary.question;
    summary.method = probe.binary.method;
    summary.status = outcome.status;
    summary.status_reason = fmt::format("{}; it would have answered {}", outcome.reason,
                                        fmt::join(probe.binary.claims, ", "));
  }

  /// For an interrupt, or for what ended a probe and would end the others, too.
  bool has_to_stop() {
    inbox_.drain();
    if (inbox_.interrupts() > 0 && !stopper_)
      stopper_ = {ProbeStatus::interrupted, "interrupted by the user", ExitCode::interrupted};
    return stopper_.has_value();
  }

  const RunArguments& options_;
  SignalInbox& inbox_;
  ProgressLine progress_;
  std::chrono::seconds limit_{};  ///< of a probe, and for becoming ready where it is held
  std::vector<Probe> probes_;
  Measured measured_;
  std::optional<ProbeOutcome> stopper_;
};

}  // namespace

std::optional<ProbeProgress> parse_progress(std::string_view line) {
  std::istringstream words{std::string(line)};
  ProbeProgress progress;
  double elapsed_s = 0;
  if (!(words >> progress.done >> progress.total >> elapsed_s)) return std::nullopt;
  std::getline(words >> std::ws, progress.name);
  return progress;
}

std::string spoken_duration(double seconds) {
  const long whole = std::lround(std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

ProbeOutcome judge_probe(const ProcessEnd& end, const std::optional<Document>& left,
                         const std::string& last_words, std::chrono::seconds limit) {
  const bool finished = end.signal == 0 && left && !left->probes.empty() &&
                        left->probes.front().status == ProbeStatus::complete;
  const auto with_log = [&](const std::string& reason) {
    return last_words.empty() ? reason
                              : fmt::format("{}; the last line of its log: {}", reason, last_words);
  };
  const auto crashed = [&](const std::string& why) -> ProbeOutcome {
    return {ProbeStatus::crashed, with_log(why), ExitCode::probe_crashed};
  };

  if (end.unkillable)
    return {ProbeStatus::timed_out,
            fmt::format("it hit its time limit of {} s and cannot be ended, since the driver holds "
                        "it: the GPU needs a reset",
                        limit.count()),
            ExitCode::gpu_lost};
  if (end.stopped == Stopped::interrupt && !finished)
    return {ProbeStatus::interrupted, "interrupted by the user", ExitCode::interrupted};
  if (end.stopped == Stopped::time_limit && !finished)
    return {ProbeStatus::timed_out,
            with_log(fmt::format("it hit its time limit of {} s (--time-limit)", limit.count())),
            ExitCode::probe_timed_out};
  if (end.signal != 0) return crashed("it was ended by " + end.describe());
  const auto code = std::ranges::find(probe_codes, end.status, to_int);
  if (code == std::end(probe_codes)) return crashed("it ended with " + end.describe());
  if (finished) return {ProbeStatus::complete, "", *code};
  if (*code == ExitCode::ok || *code == ExitCode::check_failed)
    return crashed("it ended without its complete results");
  if (*code == ExitCode::interrupted)
    return {ProbeStatus::interrupted, "interrupted from outside", *code};
  return {left && !left->entries.empty() ? ProbeStatus::partial : ProbeStatus::failed,
          last_words.empty() ? "it ended with " + end.describe() : last_words, *code};
}

ExitCode combined_exit_code(const std::vector<ExitCode>& causes) {
  std::set<ExitCode> distinct(causes.begin(), causes.end());
  distinct.erase(ExitCode::ok);
  if (distinct.empty()) return ExitCode::ok;
  if (distinct.contains(ExitCode::interrupted)) return ExitCode::interrupted;
  // A figure that is wrong must not hide behind one that is missing.
  if (distinct.contains(ExitCode::check_failed)) return ExitCode::check_failed;
  return distinct.size() == 1 ? *distinct.begin() : ExitCode::incomplete;
}

std::size_t most_held_together(const Fingerprint& gpu) {
  if (gpu.compute_mode.starts_with("exclusive")) return 1;
  // What a context takes before anything is allocated in it. Together they are to leave the probes
  // what these size their arrays for.
  constexpr std::int64_t context_bytes = 512ll << 20, share_of_memory = 16;
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, gpu.memory_bytes.value_or(0) / share_of_memory / context_bytes));
}

Measured measure_probes(const std::vector<ProbeBinary>& probes, const RunArguments& options,
                        const OutputFolder& folder, const Fingerprint& fingerprint,
                        SignalInbox& inbox) {
  const std::size_t together = options.start_together ? most_held_together(fingerprint) : 1;
  return Run(probes, options, folder, inbox).measure(together);
}

}  // namespace fathom
