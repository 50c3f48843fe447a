#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <deque>

#include "fleet/run/measure.h"
#include "results/atomic_file.h"
#include "results/error.h"
#include "tools/held_run.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"
#include "tools/suites.h"

// Short probes of each GPU by itself, and of all at once: what sharing a host can slow down.

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Measured in a second or two for each GPU.
struct Brief {
  const char *probe, *filter, *group;
};

constexpr Brief briefs[] = {
    {"links", "^links/host/pinned/copy engine/", "atlas-long"},  // PCIe switches, the host's memory
    {"copy_bandwidth", "^copy_bandwidth/type:float/vector:4/unroll:1/block:256", "core"}};  // power
/// When all begin at the same moment; a second one, since they do not end their setting up at the
/// same.
constexpr int repetitions_together = 2;
constexpr milliseconds brief_limit{120'000}, start_limit{60'000};
/// For one that has measured, whatever those beside it took; and for one that never got ready,
/// which all others wait for.
constexpr milliseconds ending_limit{5'000}, giving_up_limit{1'000};

const char* folder_name(fleet::Phase phase) {
  return phase == fleet::Phase::alone ? "alone" : "together";
}

}  // namespace

/// One short probe of one GPU.
struct HostMeasurement::BriefRun {
  GpuJob* job;
  const char* probe;  ///< of `briefs`
  fleet::Phase phase;
  fs::path document;
  HeldRun held;
  bool ended = false;

  fs::path log() const { return fs::path(document).replace_extension(".log"); }
  std::string part() const { return fmt::format("{}, {}", folder_name(phase), probe); }
};

void HostMeasurement::measure_briefs() {
  // Each alone; then those that the suite has not itself, all at once.
  std::vector<std::pair<const Brief*, fleet::Phase>> steps;
  for (const Brief& brief : briefs) steps.emplace_back(&brief, fleet::Phase::alone);
  for (const Brief& brief : briefs)
    if (!find_run_suite(arguments_.suite)->has(brief.group))
      steps.emplace_back(&brief, fleet::Phase::together);
  const milliseconds measuring_limit = std::min(brief_limit, limit());
  const milliseconds ready_limit = std::min(start_limit, limit());
  const auto in_seconds = [](std::chrono::duration<double> time) { return time.count(); };

  const auto start = [&](GpuJob& job, const Brief& brief, fleet::Phase phase) {
    const fs::path out = gpu_folder(root_, job.summary) / folder_name(phase);
    make_folder(out);
    const fs::path document = out / fmt::format("{}.json", brief.probe);
    std::error_code ignored;
    fs::remove(document, ignored);  // of an earlier run
    const FileDescriptor log = create_file(fs::path(document).replace_extension(".log"));
    ChildStart child =
        start_of(job, program_folder() / fmt::format("probe_{}", brief.probe), log.get());
    child.arguments = {"--suite",         "quick",
                       "--no-counters",   "--out",
                       document.string(), fmt::format("--benchmark_filter={}", brief.filter)};
    if (phase == fleet::Phase::together)
      child.arguments.push_back(fmt::format("--benchmark_repetitions={}", repetitions_together));
    return BriefRun{&job, brief.probe, phase, document, HeldRun(std::move(child))};
  };

  const auto end = [&](const std::vector<BriefRun*>& runs, const Supervision& supervision) {
    std::vector<std::unique_ptr<ChildProcess>> children;
    for (BriefRun* run : runs) {
      run->ended = true;
      children.push_back(std::move(run->held.child()));
    }
    return supervise_all(children, inbox_, supervision);
  };

  // All of them at once: starting CUDA takes longer than what is to be measured.
  std::deque<BriefRun> runs;
  for (const auto& [brief, phase] : steps)
    for (GpuJob& job : jobs_) {
      if (!job.gpu || stopped()) continue;
      try {
        runs.push_back(start(job, *brief, phase));
      } catch (const Error& error) {
        note(job, fleet::GpuStatus::partial, error.what(), to_int(error.code()));
      }
    }
  std::vector<const HeldRun*> held;
  for (const BriefRun& run : runs) held.push_back(&run.held);
  const std::vector<const HeldRun*> late = wait_for_words(held, inbox_, ready_limit);
  std::vector<BriefRun*> too_late;
  for (BriefRun& run : runs)
    if (std::ranges::count(late, &run.held) > 0) too_late.push_back(&run);
  // What becomes ready later would do it beside a measurement.
  if (!stopped()) {
    end(too_late, {.limit = milliseconds(0), .grace = giving_up_limit, .line = {}});
    for (const BriefRun* run : too_late)
      note(*run->job, fleet::GpuStatus::partial,
           fmt::format("{}: it was not ready within {} s", run->part(), in_seconds(ready_limit)),
           to_int(ExitCode::probe_timed_out));
  }

  // Those that hold a GPU's memory and do nothing.
  const auto beside = [&](const BriefRun& run) {
    return std::ranges::count_if(runs, [&](BriefRun& other) {
      return &other != &run && other.job == run.job && !other.ended &&
             !other.held.child()->try_end();
    });
  };

  // Until each has ended: its GPU is locked until then.
  const auto measure = [&](const std::vector<BriefRun*>& now) {
    const auto begin = Clock::now();
    std::vector<const HeldRun*> released;
    for (BriefRun* run : now) {
      run->held.release(beside(*run));
      released.push_back(&run->held);
    }
    wait_for_words(released, inbox_, measuring_limit);
    const auto took = Clock::now() - begin;
    // Who waited for its word has had the interrupt instead of it.
    if (stopped())
      for (BriefRun* run : now) run->held.child()->signal(SIGINT);
    const auto left = std::chrono::duration_cast<milliseconds>(measuring_limit - took);
    const auto ends = end(now, within(stopped() ? stop_grace : std::max(ending_limit, left)));
    for (std::size_t i = 0; i < now.size(); ++i) {
      const BriefRun& run = *now[i];
      fleet::PhaseTimes& times = run.job->summary.elapsed_s;
      auto& elapsed = run.phase == fleet::Phase::alone ? times.alone : times.together;
      elapsed = elapsed.value_or(0) + in_seconds(took);
      take(*run.job, result_of(ends[i], run.document, run.log(), in_seconds(measuring_limit)),
           run.phase, run.part());
    }
  };

  bool exclusive = all_here();
  for (const auto& [brief, phase] : steps) {
    const bool in_turn = phase == fleet::Phase::alone;
    for (std::size_t place = 0; place < (in_turn ? host_.gpus : 1); ++place) {
      std::vector<BriefRun*> now;
      for (BriefRun& run : runs) {
        if (stopped() || run.ended || run.probe != brief->probe || run.phase != phase ||
            (in_turn && run.job->place != place))
          continue;
        if (in_turn && !exclusive)
          note_not_alone(*run.job);
        else
          now.push_back(&run);
      }
      measure(now);
      exclusive = all_here();
    }
  }
}

}  // namespace fathom
