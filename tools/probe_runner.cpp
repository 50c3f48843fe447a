#include "tools/probe_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <sstream>

#include "results/document_io.h"
#include "results/fail.h"
#include "results/files.h"
#include "results/probe_environment.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// Where only some probes of a run collect counters: whether this is one of the others.
bool is_left_out(const RunArguments& options, const std::string& probe) {
  return !options.counters_of.empty() && std::ranges::count(options.counters_of, probe) == 0;
}

std::vector<std::string> probe_arguments(const RunArguments& options, const std::string& probe,
                                         const fs::path& document, int progress_fd) {
  const std::string sweep = find_run_suite(options.suite)->sweep;
  std::vector<std::string> arguments{"--suite",       sweep,
                                     "--out",         document.string(),
                                     "--device",      std::to_string(options.device),
                                     "--seed",        std::to_string(options.seed),
                                     "--progress-fd", std::to_string(progress_fd)};
  if (options.no_counters || is_left_out(options, probe)) arguments.push_back("--no-counters");
  arguments.insert(arguments.end(), options.benchmark_flags.begin(), options.benchmark_flags.end());
  return arguments;
}

std::optional<Document> read_part(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  try {
    return read_document(path);
  } catch (const Error&) {
    return std::nullopt;  // a torn document is no result; the probe is then reported as crashed
  }
}

bool has_filter(const RunArguments& options) {
  return std::ranges::any_of(options.benchmark_flags, [](const auto& flag) {
    return flag.starts_with("--benchmark_filter");
  });
}

/// How long a probe of this run may take, and may take to become ready where it is held.
std::chrono::seconds probe_time_limit(const RunArguments& options) {
  if (options.time_limit_s > 0)
    return std::chrono::seconds(std::max(1L, std::lround(options.time_limit_s)));
  return std::chrono::seconds(find_run_suite(options.suite)->probe_limit_s);
}

/// Whether it has ended for what may be its siblings' fault.
bool lacked_room(ProbeProcess& probe) {
  const auto end = probe.try_end();
  return end && end->signal == 0 &&
         (end->status == to_int(ExitCode::gpu_busy) ||
          end->status == to_int(ExitCode::gpu_out_of_memory));
}

/// What a probe program may end with; anything else is no answer of ours.
constexpr ExitCode probe_codes[] = {
    ExitCode::ok,          ExitCode::check_failed,      ExitCode::bad_input,
    ExitCode::gpu_busy,    ExitCode::output_unwritable, ExitCode::output_full,
    ExitCode::no_driver,   ExitCode::driver_too_old,    ExitCode::gpu_out_of_memory,
    ExitCode::interrupted, ExitCode::partitioned_gpu,   ExitCode::counters_unavailable,
    ExitCode::gpu_lost};

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

void ProgressLine::start_probe(std::size_t index, const std::string& name) {
  index_ = index;
  probe_ = fmt::format("[{}/{}] {}: ", index + 1, probes_, name);
  draw(probe_ + "starting");
}

void ProgressLine::update(const ProbeProgress& progress) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  // As if probes took equally long, since how many cases later ones have, only they know.
  const double done =
      static_cast<double>(index_) + 1.0 * progress.done / std::max(1, progress.total);
  const double left = elapsed.count() / done * (static_cast<double>(probes_) - done);
  draw(fmt::format("{}{} of {}, {}{}", probe_, progress.done, progress.total,
                   done > 0 ? fmt::format("about {} left, ", spoken_duration(left)) : "",
                   progress.name));
}

void ProgressLine::draw(const std::string& text) {
  if (isatty(STDERR_FILENO) != 1 || (text.empty() && !drawn_)) return;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  fmt::print(stderr, "\r\033[K{}", text.substr(0, known ? size.ws_col - 1u : 79));
  std::fflush(stderr);
  drawn_ = !text.empty();
}

ProbeOutcome judge_probe(const SupervisedEnd& ended, const std::optional<Document>& left,
                         const std::string& last_words, std::chrono::seconds limit) {
  const auto& end = ended.end;
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
  if (ended.stopped == Stopped::interrupt && !finished)
    return {ProbeStatus::interrupted, "interrupted by the user", ExitCode::interrupted};
  if (ended.stopped == Stopped::time_limit && !finished)
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

bool stops_the_run(ExitCode cause) {
  const auto stops = {ExitCode::interrupted, ExitCode::gpu_lost,  ExitCode::output_unwritable,
                      ExitCode::output_full, ExitCode::no_driver, ExitCode::driver_too_old};
  return std::ranges::count(stops, cause) > 0;
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

ProbeProcess::ProbeProcess(const ProbeBinary& probe, const RunArguments& options,
                           const OutputFolder& folder, HeldRun::Start start)
    : document_(folder.parts() / (probe.name + ".json")),
      log_(folder.logs() / (probe.name + ".log")),
      limit_(probe_time_limit(options)),
      has_filter_(has_filter(options)) {
  fs::remove(document_);  // of an earlier run into the same folder

  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    fail(ExitCode::setup_incomplete, "No pipe: {}.", std::strerror(errno));
  progress_ = FileDescriptor(ends[0]);
  const FileDescriptor progress_writer(ends[1]);  // only the child's from then on
  const FileDescriptor log = create_file(log_);
  ChildStart child{probe.program,
                   probe_arguments(options, probe.name, document_, progress_writer.get()),
                   log.get(),
                   log.get(),
                   {progress_writer.get()}};
  // Such a case would fail without its counters, and another run decides it.
  if (is_left_out(options, probe.name)) child.environment = {{timed_only_variable, "1"}};
  run_.emplace(child, start);
}

bool ProbeProcess::measure(std::size_t held_beside, SignalInbox& inbox,
                           const std::function<void(const ProbeProgress&)>& progress) {
  start_ = Clock::now();
  run_->release(held_beside);
  const auto show = [&](std::string_view line) {
    if (const auto parsed = parse_progress(line)) progress(*parsed);
  };
  end_ = supervise_until_word(*run_->child(), inbox,
                              {.limit = limit_, .lines_from = progress_.get(), .line = show},
                              run_->words());
  done_ = Clock::now();
  return !end_;
}

ProbePart ProbeProcess::finish(SignalInbox& inbox) {
  if (!end_)
    end_ = supervise(*run_->child(), inbox,
                     {.limit = std::chrono::duration_cast<std::chrono::milliseconds>(
                          start_ + limit_ - Clock::now()),
                      .line = {}});
  ProbePart result;
  result.elapsed_s = std::chrono::duration<double>(done_ - start_).count();
  result.document = read_part(document_);
  result.nothing_selected = !result.document && has_filter_ && end_->end.signal == 0 &&
                            end_->end.status == to_int(ExitCode::bad_input);
  result.outcome = judge_probe(*end_, result.document, last_line_of(log_), limit_);
  if (result.document)
    for (ProbeSummary& summary : result.document->probes) {
      summary.status = result.outcome.status;
      summary.status_reason = result.outcome.reason;
    }
  return result;
}

std::size_t most_held_together(const Fingerprint& gpu) {
  if (gpu.compute_mode.starts_with("exclusive")) return 1;
  // What a context takes before anything is allocated in it. Together they are to leave the probes
  // what these size their arrays for.
  constexpr std::int64_t context_bytes = 512ll << 20, share_of_memory = 16;
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, gpu.memory_bytes.value_or(0) / share_of_memory / context_bytes));
}

HeldProbes start_held(std::span<const ProbeBinary> probes, const RunArguments& options,
                      const OutputFolder& folder, SignalInbox& inbox) {
  HeldProbes held;
  std::vector<const HeldRun*> runs;
  for (const ProbeBinary& probe : probes) {
    try {
      held.push_back(std::make_unique<ProbeProcess>(probe, options, folder, HeldRun::Start::held));
      runs.push_back(&held.back()->run());
    } catch (const Error&) {
      held.push_back(nullptr);
    }
  }
  const std::vector<const HeldRun*> late = wait_for_words(runs, inbox, probe_time_limit(options));
  if (inbox.interrupts() > 0) return held;
  // Before the first one begins: what becomes ready later would do it beside a measurement.
  for (auto& probe : held)
    if (probe && std::ranges::count(late, &probe->run()) > 0) probe.reset();
  if (std::ranges::any_of(held, [](const auto& probe) { return probe && lacked_room(*probe); }))
    held.clear();
  return held;
}

}  // namespace fathom
