#include "fleet/run/measure.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>

#include "results/atomic_file.h"
#include "results/error.h"
#include "results/probe_environment.h"
#include "results/utc_time.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

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

}  // namespace

fs::path gpu_folder(const fs::path& root, const fleet::GpuSummary& gpu) {
  return root / "gpus" / fmt::format("{}-{}", gpu.host, gpu.gpu);
}

std::string new_run() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

GpuJob job_of(const std::optional<VisibleGpu>& gpu, const std::string& host, std::size_t number,
              std::optional<int> rank) {
  GpuJob job{.gpu = gpu, .place = number, .summary = {}};
  fleet::GpuSummary& s = job.summary;
  s.host = host;
  s.gpu = static_cast<int>(number);
  s.rank = rank;
  s.date = utc_time(std::chrono::system_clock::now());
  s.status = fleet::GpuStatus::failed;
  s.reason = "it was not measured";
  s.exit_code = to_int(ExitCode::incomplete);
  if (!gpu) {
    s.uuid_hash = fmt::format("replay of {}", name_of(s));
    s.source = Source::replay;
    return job;
  }
  s.gpu_name = gpu->name;
  s.uuid_hash = gpu->uuid_hash;
  s.health.pcie_generation = gpu->pcie_generation;
  s.health.pcie_width = gpu->pcie_width;
  s.health.uncorrected_ecc_errors = gpu->uncorrected_ecc_errors;
  s.health.remapped_rows = gpu->remapped_rows;
  s.health.remapping_failed = gpu->remapping_failed;
  s.health.remapping_pending = gpu->remapping_pending;
  s.health.other_processes = gpu->processes;
  return job;
}

void decide_counters(const FleetRunArguments& arguments, std::size_t gpus,
                     std::vector<GpuJob>& jobs) {
  if (arguments.replay) return;  // it repeats those of the recording
  if (arguments.no_counters)
    for (GpuJob& job : jobs) job.summary.no_counters = "not asked for (--no-counters)";
  if (arguments.no_counters || gpus < 2) return;
  std::vector<ProbeBinary> probes;
  std::string none_left = "its host has more GPUs than the suite has probes";
  try {
    if (std::ranges::any_of(jobs, [](const GpuJob& job) { return job.gpu.has_value(); }))
      probes = select_probes(find_probes(program_folder()), {}, *find_run_suite(arguments.suite));
  } catch (const Error& error) {
    none_left = fmt::format("it is not known which probes there are: {}", error.what());
  }
  for (GpuJob& job : jobs) {
    if (!job.gpu) continue;
    for (std::size_t i = job.place; i < probes.size(); i += gpus)
      job.summary.counters_of.push_back(probes[i].name);
    if (job.summary.counters_of.empty()) job.summary.no_counters = none_left;
  }
}

HostMeasurement::HostMeasurement(const FleetRunArguments& arguments, std::vector<GpuJob>& jobs,
                                 Host& host, SignalInbox& inbox)
    : arguments_(arguments),
      root_(arguments.report.out),
      jobs_(jobs),
      host_(host),
      inbox_(inbox),
      program_(executable_folder() / "fathom") {}

std::optional<fleet::Problem> HostMeasurement::run() {
  decide_counters(arguments_, host_.gpus, jobs_);
  for (const GpuJob& job : jobs_) write(job);
  using enum fleet::Phase;
  const bool shared = host_.gpus > 1;
  if (shared && arguments_.alone == "full") measure_suite_alone();
  // A replay has nothing to take turns for.
  if (shared && arguments_.alone == "brief" && !arguments_.replay) measure_briefs();
  all_here();
  inbox_.drain();  // one that was told to stop meanwhile does not begin
  std::vector<GpuJob*> all;
  for (GpuJob& job : jobs_) all.push_back(&job);
  if (!stopped()) run_part(all, shared ? together : alone, "suite");
  if (arguments_.no_links || arguments_.replay) return unwritten_;
  const bool exclusive = all_here();
  if (!host_.leader || stopped() || jobs_.empty() || !jobs_.front().gpu) return unwritten_;
  run_part({&jobs_.front()}, together, "links");
  if (!exclusive)
    note(jobs_.front(), fleet::GpuStatus::partial,
         "links: measured while other ranks may have worked", to_int(ExitCode::incomplete));
  return unwritten_;
}

void HostMeasurement::measure_suite_alone() {
  for (std::size_t place = 0; place < host_.gpus; ++place) {
    const bool exclusive = all_here();
    for (GpuJob& job : jobs_) {
      if (job.place != place || stopped() || !(job.gpu || arguments_.replay)) continue;
      if (exclusive)
        run_part({&job}, fleet::Phase::alone, "alone");
      else
        note_not_alone(job);
    }
  }
}

void HostMeasurement::note_not_alone(GpuJob& job) {
  note(job, fleet::GpuStatus::partial, "not measured alone: another rank of its host is gone",
       to_int(ExitCode::incomplete));
}

ChildStart HostMeasurement::start_of(const GpuJob& job, const fs::path& program, int log) const {
  ChildStart start{program, {}, log, log, {}, {}, {}};
  if (!job.gpu) return start;
  // Not where there is no other: a MIG device's UUID is written another way.
  if (!job.only_visible) start.environment = {{"CUDA_VISIBLE_DEVICES", job.gpu->uuid}};
  start.cpus = cpus_near(job.gpu->pci_bus_id);
  if (start.cpus.empty() && job.summary.rank) {
    // A launcher may have bound the rank to a single core, which is no place for a probe's threads.
    // The kernel leaves out those that a container or job may not use.
    start.cpus.resize(CPU_SETSIZE);
    std::iota(start.cpus.begin(), start.cpus.end(), 0);
  }
  return start;
}

void HostMeasurement::run_part(const std::vector<GpuJob*>& jobs, fleet::Phase phase,
                               const std::string& part) {
  const bool suite = part == "suite", links = part == "links";
  const auto begin = Clock::now();
  std::vector<std::unique_ptr<ChildProcess>> children;
  std::vector<GpuJob*> started;
  for (GpuJob* job : jobs) {
    if (!job->gpu && !arguments_.replay) continue;  // its summary says why it has none
    const fs::path folder = gpu_folder(root_, job->summary);
    try {
      const FileDescriptor log = create_file(folder / (part + ".log"));
      // What an earlier run left in the folder is not this one's.
      std::error_code ignored;
      fs::remove_all(folder / part, ignored);
      if (links)  // Fathom before 0.2 had them there
        fs::remove_all(root_ / "links" / folder.filename(), ignored);
      ChildStart start = start_of(*job, program_, log.get());
      start.arguments = {"run", "--out", (folder / part).string(), "--no-report"};
      const auto add = [&](std::initializer_list<std::string> words) {
        start.arguments.insert(start.arguments.end(), words);
      };
      add({"--suite", links ? "atlas" : arguments_.suite});
      if (links) {
        add({"--probe", "links"});
        start.environment.clear();  // it is about all of them
        if (const std::string& devices = host_.visible_devices; !devices.empty())
          start.environment = {{"CUDA_VISIBLE_DEVICES", devices}};
      }
      // Alone it is about times: what a kernel does is the same beside others.
      if (!suite || !job->summary.no_counters.empty()) {
        add({"--no-counters"});
        if (!links) start.environment.emplace_back(timed_only_variable, "1");
      } else {
        for (const std::string& probe : job->summary.counters_of) add({"--counters-of", probe});
      }
      add({job->gpu ? "--require-gpu" : "--replay"});
      children.push_back(std::make_unique<ChildProcess>(start));
      started.push_back(job);
    } catch (const Error& error) {
      note(*job, suite ? fleet::GpuStatus::failed : fleet::GpuStatus::partial,
           fmt::format("{}: {}", part, error.what()), to_int(error.code()));
    }
  }
  const auto ends = supervise_all(children, inbox_, within(limit()));
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
  for (std::size_t i = 0; i < started.size(); ++i) {
    GpuJob& job = *started[i];
    const fs::path folder = gpu_folder(root_, job.summary);
    PartResult result = result_of(ends[i], folder / part / "result.json", folder / (part + ".log"),
                                  arguments_.time_limit_s);
    if (links && ends[i].end.signal != 0)  // which is no crash of a probe of its suite
      result.exit_code = to_int(ExitCode::incomplete);
    fleet::PhaseTimes& times = job.summary.elapsed_s;
    if (!links) (suite ? times.suite : times.alone) = elapsed_s;
    take(job, result, phase, part);
  }
}

void HostMeasurement::take(GpuJob& job, const PartResult& result, fleet::Phase phase,
                           const std::string& part) {
  const bool decides = part == "suite";
  fleet::GpuSummary& summary = job.summary;
  if (result.document && part == "links") {
    // The fleet's report needs a small part of a document that may have megabytes.
    fleet::HostLinks links = fleet::links_of(summary.host, *result.document);
    links.run = summary.run;
    write(job, gpu_folder(root_, summary) / part / fleet::links_file, to_text(links));
  } else if (result.document) {
    fleet::add_document(summary, *result.document, phase);
  }
  if (!decides && result.exit_code == 0) return write(job);
  // With all its figures, and a check that failed, a part that does not decide changes nothing.
  const bool complete = result.status == fleet::GpuStatus::complete;
  const auto beside = complete ? summary.status : fleet::GpuStatus::partial;
  note(job, decides ? result.status : beside,
       result.reason.empty() ? "" : fmt::format("{}: {}", part, result.reason), result.exit_code);
}

void HostMeasurement::note(GpuJob& job, fleet::GpuStatus status, const std::string& reason,
                           int exit_code) {
  fleet::GpuSummary& s = job.summary;
  const bool was_partial = s.status == fleet::GpuStatus::partial;
  const int check_failed = to_int(ExitCode::check_failed);
  const bool told = was_partial || s.exit_code == check_failed;  // by a part before
  const std::string before = told ? s.reason : "";
  s.status =
      was_partial && status == fleet::GpuStatus::complete ? fleet::GpuStatus::partial : status;
  s.reason = before.empty() || reason.empty() ? before + reason : before + "; " + reason;
  const bool no_worse = exit_code == 0 || (exit_code == check_failed && s.exit_code != 0);
  if (!told || !no_worse) s.exit_code = exit_code;
  write(job);
}

void HostMeasurement::write(const GpuJob& job) {
  write(job, gpu_folder(root_, job.summary) / fleet::summary_file, to_text(job.summary));
}

void HostMeasurement::write(const GpuJob& job, const fs::path& file, const std::string& text) {
  try {
    make_folder(file.parent_path());
    write_file_atomically(file, text);
  } catch (const Error& error) {
    if (!unwritten_)  // the same after each part
      unwritten_ = {name_of(job.summary), error.what(), to_int(error.code())};
  }
}

}  // namespace fathom
