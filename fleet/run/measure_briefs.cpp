#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <deque>

#include "fleet/run/measure.h"
#include "fleet/run/part.h"
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

struct Step {
  const Brief* brief;
  fleet::Phase phase;
};

/// Each alone; then those that the suite has not itself, all at once.
std::vector<Step> steps_beside(const RunSuite& suite) {
  std::vector<Step> steps;
  for (const Brief& brief : briefs) steps.push_back({&brief, fleet::Phase::alone});
  for (const Brief& brief : briefs)
    if (!suite.has(brief.group)) steps.push_back({&brief, fleet::Phase::together});
  return steps;
}

const char* folder_name(fleet::Phase phase) {
  return phase == fleet::Phase::alone ? "alone" : "together";
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

/// One step of one GPU.
struct HostMeasurement::BriefRun {
  GpuJob* job;
  std::size_t step;
  fs::path document;
  HeldRun held;
  bool released = false, ended = false;
  double elapsed_s = 0;
};

void HostMeasurement::measure_briefs() {
  const std::vector<Step> steps = steps_beside(*find_run_suite(arguments_.suite));
  const milliseconds measuring_limit = std::min(brief_limit, limit());
  const milliseconds ready_limit = std::min(start_limit, limit());
  const auto is_alone = [&](std::size_t step) { return steps[step].phase == fleet::Phase::alone; };

  const auto start = [&](GpuJob& job, std::size_t step) -> BriefRun {
    const std::string probe = steps[step].brief->probe;
    const fs::path out =
        folder_.gpu(job.summary.host, job.summary.gpu) / folder_name(steps[step].phase);
    make_folder(out);
    const fs::path document = out / (probe + ".json");
    std::error_code ignored;
    fs::remove(document, ignored);  // of an earlier run
    const FileDescriptor log = create_file(fs::path(document).replace_extension(".log"));
    ChildStart child = start_of(job, program_folder() / ("probe_" + probe), log.get());
    child.arguments = {
        "--suite",         "quick",
        "--no-counters",   "--out",
        document.string(), std::string("--benchmark_filter=") + steps[step].brief->filter};
    if (!is_alone(step))
      child.arguments.push_back(fmt::format("--benchmark_repetitions={}", repetitions_together));
    return {&job, step, document, HeldRun(std::move(child))};
  };

  // Those told to begin, once they have measured or their time is up.
  const auto finish = [&](const std::vector<BriefRun*>& runs) {
    std::vector<std::unique_ptr<ChildProcess>> children;
    milliseconds left = ending_limit;
    for (BriefRun* run : runs) {
      // Who waited for its word has had the interrupt instead of it.
      if (stopped()) run->held.child()->signal(SIGINT);
      children.push_back(std::move(run->held.child()));
      left =
          std::max(left, measuring_limit - milliseconds(static_cast<long>(1000 * run->elapsed_s)));
    }
    const auto ends = supervise_all(children, inbox_, within(stopped() ? stop_grace : left));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      BriefRun& run = *runs[i];
      run.ended = true;
      const fleet::Phase phase = steps[run.step].phase;
      const double limit_s = std::chrono::duration<double>(measuring_limit).count();
      const PartResult result = result_of(
          ends[i], run.document, fs::path(run.document).replace_extension(".log"), limit_s);
      fleet::PhaseTimes& times = run.job->summary.elapsed_s;
      auto& elapsed = phase == fleet::Phase::alone ? times.alone : times.together;
      elapsed = elapsed.value_or(0) + run.elapsed_s;
      take(*run.job, result, phase,
           fmt::format("{}, {}", folder_name(phase), steps[run.step].brief->probe));
    }
  };

  const auto give_up = [&](const std::vector<BriefRun*>& late) {
    std::vector<std::unique_ptr<ChildProcess>> children;
    for (BriefRun* run : late) children.push_back(std::move(run->held.child()));
    supervise_all(children, inbox_,
                  {.limit = milliseconds(0), .grace = giving_up_limit, .line = {}});
    for (BriefRun* run : late) {
      run->ended = true;
      note(*run->job, fleet::GpuStatus::partial,
           fmt::format("{}, {}: it was not ready within {} s", folder_name(steps[run->step].phase),
                       steps[run->step].brief->probe,
                       std::chrono::duration<double>(ready_limit).count()),
           to_int(ExitCode::probe_timed_out));
    }
  };

  // All of them at once: starting CUDA takes longer than what is to be measured.
  std::deque<BriefRun> runs;
  for (std::size_t step = 0; step < steps.size(); ++step)
    for (GpuJob& job : jobs_) {
      if (!job.gpu || stopped()) continue;
      try {
        runs.push_back(start(job, step));
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
  if (!stopped()) give_up(too_late);

  // Those that hold a GPU's memory and do nothing.
  const auto beside = [&](const BriefRun& run) {
    return std::ranges::count_if(runs, [&](BriefRun& other) {
      return &other != &run && other.job == run.job && !other.ended &&
             !other.held.child()->try_end();
    });
  };

  bool exclusive = all_here();
  for (std::size_t step = 0; step < steps.size(); ++step)
    for (int slot = 0; slot < (is_alone(step) ? host_.gpus : 1); ++slot) {
      std::vector<BriefRun*> now, before;
      for (BriefRun& run : runs) {
        if (stopped() || (is_alone(step) && run.job->slot != slot)) continue;
        if (run.released && !run.ended) before.push_back(&run);
        if (run.step != step || run.ended) continue;
        if (is_alone(step) && !exclusive)
          note_not_alone(*run.job);
        else
          now.push_back(&run);
      }
      finish(before);  // the GPU is locked until its last probe has ended
      const auto begin = Clock::now();
      std::vector<const HeldRun*> released;
      for (BriefRun* run : now) {
        run->held.release(beside(*run));
        run->released = true;
        released.push_back(&run->held);
      }
      wait_for_words(released, inbox_, measuring_limit);
      for (BriefRun* run : now) run->elapsed_s = seconds_since(begin);
      // What hangs is not to be beside the next one.
      if (seconds_since(begin) >= std::chrono::duration<double>(measuring_limit).count())
        finish(now);
      exclusive = all_here();
    }
  std::vector<BriefRun*> rest;
  for (BriefRun& run : runs)
    if (run.released && !run.ended) rest.push_back(&run);
  finish(rest);
}

}  // namespace fathom
