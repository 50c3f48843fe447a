// What ranks say to each other: by MPI before they measure, by files in a host's memory while they
// do, by notes on the storage that all share at the end.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "fleet/run/run.h"
#include "results/text.h"
#include "tools/programs.h"

namespace fathom {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankWord, host, barrier, gpus, run, out)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankNote, run, size, host, reason, exit_code, ended)

namespace {

using nlohmann::json;

std::optional<int> number(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? parse_number<int>(text) : std::nullopt;
}

/// The variables of rank and size.
constexpr struct {
  const char *name, *rank, *size;
} launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MPICH or Slurm's PMI", "PMI_RANK", "PMI_SIZE"},
    // Not SLURM_NTASKS, which a batch script itself has, too.
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

/// For ranks that do not come: one may have ended before MPI connected them.
constexpr std::chrono::seconds patience{300};
/// Each rank says some hundred bytes.
constexpr std::size_t longest_note = 1 << 16, longest_answer = std::size_t{1} << 30;
constexpr int most_ranks = 10'000'000;

std::string unique_host_name(const std::vector<RankWord>& all, std::size_t rank) {
  // All ranks of a host have the name that its first one has.
  const RankWord& own = all.at(static_cast<std::size_t>(all[rank].leader));
  std::set<int> before;
  for (const RankWord& other : all)
    if (other.host == own.host && other.leader < own.leader) before.insert(other.leader);
  return before.empty() ? own.host : fmt::format("{}-{}", own.host, before.size() + 1);
}

std::filesystem::path file_of(const std::filesystem::path& root, int rank) {
  return root / "ranks" / fmt::format("{}.note", rank);
}

}  // namespace

std::optional<Launcher> find_launcher() {
  for (const auto& [name, rank_variable, size_variable] : launchers) {
    const auto rank = number(rank_variable), size = number(size_variable);
    if (!rank || !size || *size < 2 || *rank < 0 || *rank >= *size) continue;
    const char* node = std::getenv("SLURMD_NODENAME");
    const bool by_srun = node && name != launchers[0].name && number("SLURM_PROCID") == rank &&
                         number("SLURM_STEP_NUM_TASKS") == size;
    return Launcher{name, *rank, *size, by_srun ? node : ""};
  }
  return std::nullopt;
}

std::vector<RankWord> exchange(const Launcher& launcher, const std::filesystem::path& root,
                               const RankWord& own, SignalInbox& inbox) {
  constexpr auto incomplete = ExitCode::setup_incomplete;
  const auto program = executable_folder() / "fathom-fleet-rank";
  if (!std::filesystem::exists(program))
    fail(incomplete,
         "{} started {} ranks, and this Fathom was built without MPI: install libopenmpi-dev (or "
         "libmpich-dev) and build again, start one process a host without a launcher, or give each "
         "`--part` and collect afterwards.",
         launcher.name, launcher.size);
  const FileDescriptor output(memfd_create("ranks", MFD_CLOEXEC));
  const std::string word = json(own).dump(-1, ' ', false, json::error_handler_t::replace);
  ChildProcess child({program, {word}, output.get(), STDERR_FILENO});
  const ProcessEnd end = supervise(child, inbox, {.limit = patience});
  if (end.stopped == Stopped::interrupt) throw Error(ExitCode::interrupted, "");
  if (end.stopped == Stopped::time_limit)
    fail(incomplete,
         "Not all ranks came together within {} s: see what the others say, and start again.",
         patience.count());
  if (end.status == to_int(incomplete)) throw Error(incomplete, "");  // it has said why
  std::istringstream lines(
      read_file_up_to(fmt::format("/proc/self/fd/{}", output.get()), longest_answer));
  std::vector<RankWord> all;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    const auto leader = parse_number<int>(line.substr(0, space));
    if (!leader) continue;  // MPI's own words
    all.push_back(json::parse(line.substr(space)).get<RankWord>());
    all.back().leader = *leader;
  }
  if (end.signal == 0 && end.status == 0 && all.size() == static_cast<std::size_t>(launcher.size))
    return all;
  // A program of another MPI than the launcher's starts as so many jobs of one rank each. All ranks
  // fail alike then, and the first one says it.
  if (launcher.rank != 0 && end.signal == 0 && all.size() == 1) throw Error(incomplete, "");
  if (launcher.rank != 0 && end.signal == 0)  // perhaps it alone: rank 0 says what to do
    fail(incomplete, "rank {}: its exchange ended with {}.", launcher.rank, end.describe());
  fail(incomplete,
       "rank {} of {}: {} started {} ranks, and MPI knows of {} ({}). Start it with the mpirun "
       "of the MPI that Fathom was built with, or with srun --mpi=pmix (Open MPI) or --mpi=pmi2 "
       "(MPICH); `srun --mpi=list` names those that Slurm has. It works without MPI, too: one "
       "process a host with --part, then `fathom fleet collect {}`.",
       launcher.rank, launcher.size, launcher.name, launcher.size, all.size(), end.describe(),
       root.string());
}

std::vector<std::size_t> ranks_of_host(const std::vector<RankWord>& all, std::size_t rank) {
  std::vector<std::size_t> ranks;
  for (std::size_t other = 0; other < all.size(); ++other)
    if (all[other].leader == all[rank].leader) ranks.push_back(other);
  return ranks;
}

HostBarrier::~HostBarrier() {
  if (!file_.empty()) unlink(file_.c_str());
}

std::string HostBarrier::make_own() {
  file_ = "/dev/shm/fathom-" + new_run();
  own_ = FileDescriptor(open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  broken_ = own_.get() < 0 || flock(own_.get(), LOCK_EX) != 0;
  return broken_ ? "" : file_.string();
}

void HostBarrier::join(const std::vector<std::string>& others,
                       std::chrono::duration<double> limit) {
  limit_ = limit;
  for (const std::string& other : others) {
    others_.emplace_back(open(other.c_str(), O_RDONLY | O_CLOEXEC));
    if (others_.back().get() < 0) broken_ = true;
  }
}

bool HostBarrier::all_here(SignalInbox& inbox) {
  if (others_.empty()) return true;
  broken_ = broken_ || ftruncate(own_.get(), ++parts_) != 0;
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + limit_;
  for (const FileDescriptor& other : others_) {
    const auto is_here = [&] {
      struct stat now {};
      return fstat(other.get(), &now) == 0 && now.st_size >= parts_;
    };
    while (!broken_ && !is_here()) {
      // Its lock is free once it has ended; it may have come here before that.
      const bool ended = flock(other.get(), LOCK_SH | LOCK_NB) == 0;
      broken_ = (ended && !is_here()) || inbox.interrupts(std::chrono::milliseconds(5)) > 0 ||
                Clock::now() > deadline;
    }
  }
  if (broken_) own_.close();  // the others are not to wait for this one either
  if (!broken_ && parts_ == 1) unlink(file_.c_str());  // all have it; a killed rank leaves none
  return !broken_;
}

std::vector<GpuJob> jobs_of_rank(const FleetRunArguments& arguments,
                                 const std::vector<RankWord>& all, std::size_t rank,
                                 const std::vector<GpuJob>& seen, Host& host) {
  const std::vector<std::size_t> ranks = ranks_of_host(all, rank);
  const auto local = static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
  std::vector<GpuJob> jobs;
  const auto add = [&](const GpuJob& gpu) -> GpuJob& {  // before anything is measured
    GpuJob& job = jobs.emplace_back(gpu);
    job.place = local + jobs.size() - 1;
    fleet::GpuSummary& s = job.summary;
    s.host = unique_host_name(all, rank);
    s.gpu = static_cast<int>(job.place);
    if (all.size() > 1) s.rank = static_cast<int>(rank);
    s.date = utc_time(std::chrono::system_clock::now());
    s.status = fleet::GpuStatus::failed;
    s.reason = "it was not measured";
    s.exit_code = to_int(ExitCode::incomplete);
    return job;
  };
  host.leader = local == 0;
  host.gpus = 0;
  if (arguments.replay) {
    fleet::GpuSummary& s = add({}).summary;
    s.uuid_hash = fmt::format("replay of {}", name_of(s));
    s.source = Source::replay;
    host.gpus = ranks.size();
    return jobs;
  }
  std::set<std::string> taken;
  std::string own, others;  // as CUDA_VISIBLE_DEVICES has them, without MIG devices: it takes one
  for (const std::size_t each : ranks) {
    const std::vector<std::string>& gpus = all[each].gpus;
    bool has_one = false;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if ((has_one && ranks.size() > 1) || !taken.insert(gpus[i]).second) continue;
      has_one = true;
      if (!gpus[i].starts_with(mig_mark)) (each == rank ? own : others) += "," + gpus[i];
      if (each == rank) {
        GpuJob& job = add(seen[i]);
        job.only_visible = seen.size() == 1;
        job.place = host.gpus;
      }
      ++host.gpus;
    }
  }
  host.visible_devices = ranks.size() > 1 && !own.empty() ? (own + others).substr(1) : "";
  if (jobs.empty())
    add({}).summary.reason = fmt::format(
        "no GPU is left for it: its host has {}, and it sees {}; start one rank a GPU, and let "
        "each see its own or all of its host's",
        counted(ranks.size(), "rank"), counted(seen.size(), "GPU"));
  return jobs;
}

void leave_note(const std::filesystem::path& root, int rank, const RankNote& note) {
  try {
    make_folder(root / "ranks");
    write_file_atomically(file_of(root, rank),
                          json(note).dump(-1, ' ', false, json::error_handler_t::replace));
  } catch (const Error& error) {
    fmt::print(stderr, "fathom: rank {}: {}\n", rank, error.what());
  }
}

std::optional<RankNote> read_note(const std::filesystem::path& root, int rank) {
  try {
    return json::parse(read_file_up_to(file_of(root, rank), longest_note)).get<RankNote>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void add_rank_problems(fleet::Fleet& fleet, const std::filesystem::path& root,
                       const std::optional<RankNote>& first) {
  if (!first) return;
  for (int rank = 0; rank < std::min(first->size, most_ranks); ++rank) {
    const auto note = rank == 0 ? first : read_note(root, rank);
    fleet::Problem problem{fmt::format("rank {}", rank), "it left no word",
                           to_int(ExitCode::incomplete)};
    if (note && note->run == first->run) {
      if (note->reason.empty()) continue;
      problem.reason = fmt::format("on {}: {}", note->host, note->reason);
      problem.exit_code = fleet::known_code(note->exit_code);
    }
    bool joined = false;  // the row of a GPU
    for (fleet::GpuSummary& s : fleet.gpus) {
      if (s.rank != rank || s.status == fleet::GpuStatus::complete) continue;
      const auto row = std::ranges::find(fleet.problems, name_of(s), &fleet::Problem::what);
      if (row == fleet.problems.end()) continue;
      row->reason = s.reason = fmt::format("{}, {}; {}", problem.what, problem.reason, s.reason);
      joined = true;
    }
    if (!joined) fleet.problems.push_back(problem);
  }
}

}  // namespace fathom
