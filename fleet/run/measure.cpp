#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "fleet/run/run.h"
#include "results/error.h"
#include "results/files.h"
#include "tools/programs.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using fleet::Phase;
using std::chrono::milliseconds;

/// A run that is told to stop ends its probe first, which has five seconds itself.
constexpr milliseconds stop_grace{15'000};

/// A short probe, a second or two for each GPU: what sharing a host can slow down.
struct Brief {
  const char *probe, *filter;
};
constexpr Brief briefs[] = {
    {"links", "^links/host/pinned/copy engine/"},  // PCIe switches, the host's memory
    {"copy_bandwidth", "^copy_bandwidth/type:float/vector:4/unroll:1/block:256"}};  // power
/// When all begin at once; a second one, since they do not end their setting up at the same moment.
constexpr int repetitions_together = 2;
constexpr milliseconds brief_limit{120'000}, start_limit{60'000};

/// A program that measures a GPU: `fathom run` ("alone", "suite", "links") or a short probe.
struct Part {
  GpuJob* job;
  Phase phase;
  std::string name;
  fs::path document, log;
  const Brief* brief = nullptr;
  std::unique_ptr<ChildProcess> child{};  ///< until it has ended
};
using Parts = std::vector<std::shared_ptr<Part>>;

/// CPUs of the NUMA node that a PCI device is at, as the kernel lists them ("0-3,8"); empty where
/// it does not tell. FATHOM_PCI_DEVICES names another folder than /sys/bus/pci/devices.
std::vector<int> cpus_near(std::string pci_bus_id) {
  std::ranges::transform(pci_bus_id, pci_bus_id.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const char* folder = std::getenv("FATHOM_PCI_DEVICES");
  std::ifstream list(fs::path(folder ? folder : "/sys/bus/pci/devices") / pci_bus_id /
                     "local_cpulist");
  std::vector<int> cpus;
  for (std::string range; std::getline(list, range, ',');) {
    int first = 0, last = -1;
    if (std::sscanf(range.c_str(), "%d-%d", &first, &last) == 1) last = first;
    for (int cpu = first; cpu <= std::min(last, CPU_SETSIZE - 1); ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

/// A program on the job's GPU and the CPUs near it, with its output into a log.
ChildStart start_of(const GpuJob& job, const fs::path& program, int log,
                    std::vector<std::string> arguments) {
  ChildStart start{program, std::move(arguments), log, log};
  if (job.uuid.empty()) return start;
  // Not where there is no other: a MIG device's UUID is written another way.
  if (!job.only_visible) start.environment = {{"CUDA_VISIBLE_DEVICES", job.uuid}};
  start.cpus = cpus_near(job.pci_bus_id);
  if (start.cpus.empty() && job.summary.rank) {
    // A launcher may have bound the rank to a single core, which is no place for a probe's threads.
    // The kernel leaves out those that a container or job may not use.
    start.cpus.resize(CPU_SETSIZE);
    std::iota(start.cpus.begin(), start.cpus.end(), 0);
  }
  return start;
}

class Measurement {
  using enum fleet::GpuStatus;
  static constexpr int incomplete = to_int(ExitCode::incomplete);

 public:
  Measurement(const FleetRunArguments& arguments, std::vector<GpuJob>& jobs, Host& host,
              SignalInbox& inbox)
      : arguments_(arguments), jobs_(jobs), host_(host), inbox_(inbox) {}

  std::optional<fleet::Problem> run() {
    decide_counters(arguments_, host_.gpus, jobs_);
    for (const GpuJob& job : jobs_) write(job);
    const bool shared = host_.gpus > 1;
    if (shared && arguments_.alone == "full") measure_suite_alone();
    // A replay has nothing to take turns for.
    if (shared && arguments_.alone == "brief" && !arguments_.replay) measure_briefs();
    all_here();
    // One that was told to stop meanwhile does not begin.
    if (!stopped()) run_part(jobs_, shared ? Phase::together : Phase::alone, "suite");
    if (arguments_.no_links || arguments_.replay) return unwritten_;
    const bool exclusive = all_here();
    if (!host_.leader || stopped() || jobs_.empty() || jobs_.front().uuid.empty())
      return unwritten_;
    run_part({&jobs_.front(), 1}, Phase::together, "links");
    if (!exclusive)
      note(jobs_.front(), partial, "links: measured while other ranks may have worked", incomplete);
    return unwritten_;
  }

 private:
  /// Whether the host's other processes have come here, too.
  bool all_here() { return host_.barrier.all_here(inbox_); }
  bool stopped() const { return inbox_.interrupts() > 0; }
  milliseconds at_most(milliseconds limit) const {
    return std::min(limit, milliseconds(static_cast<long>(1000 * arguments_.time_limit_s)));
  }

  void measure_suite_alone() {
    for (std::size_t place = 0; place < host_.gpus; ++place) {
      const bool exclusive = all_here();
      for (GpuJob& job : jobs_)
        if (job.place == place && !stopped() && (!job.uuid.empty() || arguments_.replay) &&
            is_alone(job, exclusive))
          run_part({&job, 1}, Phase::alone, "alone");
    }
  }

  /// What a run of `fathom run` is given.
  ChildStart start_of_run(const Part& part, int log) const {
    const GpuJob& job = *part.job;
    const bool suite = part.name == "suite", links = part.name == "links";
    ChildStart start = start_of(job, executable_folder() / "fathom", log,
                                {"run", "--out", part.document.parent_path().string(),
                                 "--no-report", "--suite", links ? "atlas" : arguments_.suite});
    const auto add = [&](std::initializer_list<std::string> words) {
      start.arguments.insert(start.arguments.end(), words);
    };
    if (links) {
      add({"--probe", "links"});
      start.environment.clear();  // it is about all of them
      if (const std::string& devices = host_.visible_devices; !devices.empty())
        start.environment = {{"CUDA_VISIBLE_DEVICES", devices}};
    }
    // Alone it is about times: what a kernel does is the same beside others.
    if (!suite || !job.summary.no_counters.empty()) {
      add({"--no-counters"});
      if (!links) start.environment.emplace_back(timed_only_variable, "1");
    } else {
      for (const std::string& probe : job.summary.counters_of) add({"--counters-of", probe});
    }
    add({job.uuid.empty() ? "--replay" : "--require-gpu"});
    return start;
  }

  /// What a short probe is given.
  ChildStart start_of_brief(const Part& part, int log) const {
    std::vector<std::string> words{
        "--suite", "quick",       "--no-counters",
        "--out",   part.document, fmt::format("--benchmark_filter={}", part.brief->filter)};
    if (part.phase == Phase::together)
      words.push_back(fmt::format("--benchmark_repetitions={}", repetitions_together));
    ChildStart start = start_of(
        *part.job, program_folder() / fmt::format("probe_{}", part.brief->probe), log, words);
    start.socket_flags = {"--start-fd"};
    return start;
  }

  /// Adds a part to those that are started; else its GPU's summary says why it is not.
  void start(Part part, Parts& started) {
    try {
      make_folder(part.log.parent_path());
      const FileDescriptor log = create_file(part.log);
      // What an earlier run left there is not this one's.
      std::error_code ignored;
      fs::remove_all(part.brief ? part.document : part.document.parent_path(), ignored);
      part.child = std::make_unique<ChildProcess>(part.brief ? start_of_brief(part, log.get())
                                                             : start_of_run(part, log.get()));
      started.push_back(std::make_shared<Part>(std::move(part)));
    } catch (const Error& error) {
      note(*part.job, part.name == "suite" ? failed : partial,
           part.brief ? error.what() : fmt::format("{}: {}", part.name, error.what()),
           to_int(error.code()));
    }
  }

  /// A run of `fathom run` on each GPU: "alone" and "suite", or of the first GPU alone: "links".
  void run_part(std::span<GpuJob> jobs, Phase phase, const std::string& name) {
    Parts parts;
    for (GpuJob& job : jobs) {
      if (job.uuid.empty() && !arguments_.replay) continue;  // its summary says why it has none
      const fs::path folder = gpu_folder(arguments_.report.out, job.summary);
      start({&job, phase, name, folder / name / "result.json", folder / (name + ".log")}, parts);
    }
    measure(parts, parts, milliseconds::max());
  }

  /// Short probes on every GPU, all made ready at the same time, since starting CUDA takes longer
  /// than what is to be measured: each alone, in turn; then those that the suite has not itself,
  /// all at once.
  void measure_briefs() {
    std::vector<std::pair<const Brief*, Phase>> steps;
    for (const Phase phase : {Phase::alone, Phase::together})
      for (const Brief& brief : briefs)
        if (phase == Phase::alone || !find_run_suite(arguments_.suite)->has(brief.probe))
          steps.emplace_back(&brief, phase);
    Parts parts;
    for (const auto& [brief, phase] : steps)
      for (GpuJob& job : jobs_) {
        if (job.uuid.empty() || stopped()) continue;
        const std::string when = phase == Phase::alone ? "alone" : "together";
        const std::string file =
            gpu_folder(arguments_.report.out, job.summary) / when / brief->probe;
        start({&job, phase, fmt::format("{}, {}", when, brief->probe), file + ".json",
               file + ".log", brief},
              parts);
      }
    const Children late = wait_until_ready(children_of(parts), inbox_, at_most(start_limit));
    for (const auto& part : parts) {
      if (stopped() || std::ranges::count(late, part->child.get()) == 0) continue;
      part->child.reset();  // else it would become ready beside a measurement
      note(*part->job, partial,
           fmt::format("{}: it was not ready within {} s", part->name,
                       Seconds(at_most(start_limit)).count()),
           to_int(ExitCode::probe_timed_out));
    }
    for (const auto& [brief, phase] : steps) {
      const bool in_turn = phase == Phase::alone;
      for (std::size_t place = 0; place < (in_turn ? host_.gpus : 1); ++place) {
        const bool exclusive = all_here();
        Parts now;
        for (const auto& part : parts)
          if (!stopped() && part->child && part->brief == brief && part->phase == phase &&
              (!in_turn || (part->job->place == place && is_alone(*part->job, exclusive))))
            now.push_back(part);
        measure(now, parts, brief_limit);
      }
    }
  }

  static Children children_of(const Parts& parts) {
    Children children;
    for (const auto& part : parts) children.push_back(part->child.get());
    return children;
  }

  /// Until each has ended: its GPU is locked until then.
  void measure(const Parts& now, const Parts& all, milliseconds most) {
    const auto begin = Clock::now();
    for (const auto& part : now) {
      // Those that hold the GPU's memory and do nothing.
      const auto beside = std::ranges::count_if(all, [&](const auto& other) {
        return other != part && other->job == part->job && other->child && !other->child->try_end();
      });
      part->child->release(static_cast<std::size_t>(beside));
    }
    const milliseconds limit = at_most(most);
    supervise(children_of(now), inbox_, {.limit = limit, .grace = stop_grace});
    const auto took = Clock::now() - begin;
    for (const auto& part : now) take(*part, Seconds(limit).count(), took);
  }

  /// Adds what a part that has ended left to its GPU's summary, and writes that. The status of the
  /// part "suite" is the GPU's; any other costs its own figures only.
  void take(Part& part, double limit_s, Seconds took) {
    const ProcessEnd end = *std::exchange(part.child, nullptr)->try_end();
    const bool decides = part.name == "suite", links = part.name == "links";
    fleet::GpuSummary& summary = part.job->summary;
    PartResult result = result_of(end, part.document, part.log, limit_s);
    if (links && end.signal != 0)  // which is no crash of a probe of its suite
      result.exit_code = incomplete;
    if (!links) {
      auto& elapsed = decides                      ? summary.elapsed_s.suite
                      : part.phase == Phase::alone ? summary.elapsed_s.alone
                                                   : summary.elapsed_s.together;
      elapsed = elapsed.value_or(0) + took.count();
    }
    if (result.document && links) {
      // The fleet's report needs a small part of a document that may have megabytes.
      fleet::HostLinks own = fleet::links_of(summary.host, *result.document);
      own.run = summary.run;
      write(*part.job, part.document.parent_path() / fleet::links_file, to_text(own));
    } else if (result.document) {
      fleet::add_document(summary, *result.document, part.phase);
    }
    if (!decides && result.exit_code == 0) return write(*part.job);
    // With all its figures, and a check that failed, a part that does not decide changes nothing.
    const auto beside = result.status == complete ? summary.status : partial;
    note(*part.job, decides ? result.status : beside,
         result.reason.empty() ? "" : fmt::format("{}: {}", part.name, result.reason),
         result.exit_code);
  }

  bool is_alone(GpuJob& job, bool exclusive) {
    if (!exclusive)
      note(job, partial, "not measured alone: another rank of its host is gone", incomplete);
    return exclusive;
  }
  void note(GpuJob& job, fleet::GpuStatus status, const std::string& reason, int exit_code) {
    fleet::GpuSummary& s = job.summary;
    const bool was_partial = s.status == partial;
    const int check_failed = to_int(ExitCode::check_failed);
    const bool told = was_partial || s.exit_code == check_failed;  // by a part before
    const bool both = told && !s.reason.empty() && !reason.empty();
    s.status = was_partial && status == complete ? partial : status;
    s.reason = (told ? s.reason : "") + (both ? "; " : "") + reason;
    const bool no_worse = exit_code == 0 || (exit_code == check_failed && s.exit_code != 0);
    if (!told || !no_worse) s.exit_code = exit_code;
    write(job);
  }

  void write(const GpuJob& job) {
    write(job, gpu_folder(arguments_.report.out, job.summary) / fleet::summary_file,
          to_text(job.summary));
  }
  void write(const GpuJob& job, const fs::path& file, const std::string& text) {
    try {
      make_folder(file.parent_path());
      write_file_atomically(file, text);
    } catch (const Error& error) {
      if (!unwritten_)  // the same after each part
        unwritten_ = {name_of(job.summary), error.what(), to_int(error.code())};
    }
  }

  const FleetRunArguments& arguments_;
  std::vector<GpuJob>& jobs_;
  Host& host_;
  SignalInbox& inbox_;
  std::optional<fleet::Problem> unwritten_;
};

}  // namespace

std::optional<fleet::Problem> measure_host(const FleetRunArguments& arguments,
                                           std::vector<GpuJob>& jobs, Host& host,
                                           SignalInbox& inbox) {
  return Measurement(arguments, jobs, host, inbox).run();
}

}  // namespace fathom
