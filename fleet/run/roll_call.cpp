#include "fleet/run/roll_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "results/atomic_file.h"
#include "results/fail.h"
#include "results/format.h"
#include "tools/probe_binaries.h"

namespace fathom {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankWord::Gpu, uuid, mig)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankWord, host, barrier, gpus, run, out)

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// For ranks that do not come: one may have ended before MPI connected them.
constexpr std::chrono::seconds patience{300};
/// Each rank says some hundred bytes.
constexpr std::size_t longest_answer = std::size_t{1} << 30;

std::string why_none(const SeenGpus& seen, std::size_t ranks) {
  if (!seen.problem.empty()) return seen.problem;
  if (seen.gpus.size() == 1)
    return fmt::format(
        "the only GPU that it sees is a rank's before it: start one rank a GPU, and let each see "
        "its own or all of its host's ({} ranks are there)",
        ranks);
  return fmt::format("no GPU is left for it: its host has {}, and it sees {}",
                     counted(ranks, "rank"), counted(seen.gpus.size(), "GPU"));
}

fs::path rank_program() { return executable_folder() / "fathom-fleet-rank"; }

}  // namespace

std::string to_line(const RankWord& word) {
  return json(word).dump(-1, ' ', false, json::error_handler_t::replace);
}

RankWord parse_word(const std::string& line) {
  auto word = json::parse(line.substr(std::min(line.find(' '), line.size()))).get<RankWord>();
  word.leader = std::stoi(line);
  return word;
}

void require_mpi(const Launcher& launcher) {
  if (!fs::exists(rank_program()))
    fail(ExitCode::setup_incomplete,
         "{} started {} ranks, and this Fathom was built without MPI: install libopenmpi-dev (or "
         "libmpich-dev) and build again, start one process a host without a launcher, or give each "
         "`--part` and collect afterwards.",
         launcher.name, launcher.size);
}

std::vector<RankWord> exchange(const Launcher& launcher, const fs::path& root, const RankWord& own,
                               SignalInbox& inbox) {
  const FileDescriptor output(memfd_create("ranks", MFD_CLOEXEC));
  ChildProcess child({rank_program(), {to_line(own)}, output.get(), STDERR_FILENO});
  const SupervisedEnd end = supervise(child, inbox, {.limit = patience, .line = {}});
  if (end.stopped == Stopped::interrupt) throw Error(ExitCode::interrupted, "");
  constexpr auto incomplete = ExitCode::setup_incomplete;
  if (end.stopped == Stopped::time_limit)
    fail(incomplete,
         "Not all ranks came together within {} s: see what the others say, and start again.",
         patience.count());
  if (end.end.status == to_int(incomplete)) throw Error(incomplete, "");  // it has said why
  if (end.end.signal != 0 || end.end.status != 0)
    fail(incomplete,
         "rank {} of {}: MPI ended with {} before it had connected the ranks. Start it with the "
         "mpirun of the MPI that Fathom was built with, or with srun --mpi=pmix (Open MPI) or "
         "--mpi=pmi2 (MPICH); `srun --mpi=list` names those that Slurm has. It works without "
         "MPI, too: one process a host with --part, then `fathom fleet collect {}`.",
         launcher.rank, launcher.size, end.end.describe(), root.string());
  std::istringstream lines(
      read_file_up_to(fmt::format("/proc/self/fd/{}", output.get()), longest_answer));
  std::vector<RankWord> all;
  for (std::string each; std::getline(lines, each);)
    if (!each.empty() && std::isdigit(static_cast<unsigned char>(each.front())))
      all.push_back(parse_word(each));
  // A program of another MPI than the launcher's starts as so many jobs of one rank each.
  if (all.size() != static_cast<std::size_t>(launcher.size))
    fail(incomplete,
         "{} started {} ranks, and MPI knows of {}: start it with the mpirun of the MPI that "
         "Fathom was built with, or with srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH).",
         launcher.name, launcher.size, all.size());
  return all;
}

std::vector<std::size_t> ranks_of_host(const std::vector<RankWord>& all, std::size_t rank) {
  std::vector<std::size_t> ranks;
  for (std::size_t other = 0; other < all.size(); ++other)
    if (all[other].leader == all[rank].leader) ranks.push_back(other);
  return ranks;
}

std::string unique_host_name(const std::vector<RankWord>& all, std::size_t rank) {
  // All ranks of a host have the name that its first one has.
  const RankWord& own = all.at(static_cast<std::size_t>(all[rank].leader));
  std::set<int> before;
  for (const RankWord& other : all)
    if (other.host == own.host && other.leader < own.leader) before.insert(other.leader);
  return before.empty() ? own.host : fmt::format("{}-{}", own.host, before.size() + 1);
}

std::vector<std::vector<std::size_t>> assign_gpus(const std::vector<RankWord>& host) {
  std::set<std::string> taken;
  std::vector<std::vector<std::size_t>> all;
  for (const RankWord& rank : host) {
    std::vector<std::size_t>& own = all.emplace_back();
    for (std::size_t i = 0; i < rank.gpus.size() && (own.empty() || host.size() == 1); ++i)
      if (taken.insert(rank.gpus[i].uuid).second) own.push_back(i);
  }
  return all;
}

std::vector<GpuJob> jobs_of_rank(const FleetRunArguments& arguments,
                                 const std::vector<RankWord>& all, std::size_t rank,
                                 const SeenGpus& seen, Host& host) {
  std::vector<RankWord> ranks;
  std::size_t local = 0;  // its place among the host's
  for (const std::size_t each : ranks_of_host(all, rank)) {
    if (each == rank) local = ranks.size();
    ranks.push_back(all[each]);
  }
  std::vector<GpuJob> jobs;
  const auto number = all.size() > 1 ? std::optional(static_cast<int>(rank)) : std::nullopt;
  const auto add = [&](const std::optional<VisibleGpu>& gpu) {
    jobs.push_back(job_of(gpu, unique_host_name(all, rank), local + jobs.size(), number));
  };
  host.leader = local == 0;
  if (arguments.replay) {
    // Parts that a launcher starts are all of one host, as far as anybody knows.
    const auto part = arguments.part ? find_launcher() : std::nullopt;
    if (part) local = static_cast<std::size_t>(part->rank);
    add(std::nullopt);
    host.gpus = ranks.size();
    return jobs;
  }
  const auto taken = assign_gpus(ranks);
  // All that the host's ranks took, as CUDA_VISIBLE_DEVICES has them. A MIG device is not seen
  // beside others, and its UUID is written another way.
  std::vector<std::string> own, others;
  host.gpus = 0;
  for (std::size_t each = 0; each < ranks.size(); ++each)
    for (const std::size_t i : taken[each]) {
      const RankWord::Gpu& gpu = ranks[each].gpus[i];
      if (!gpu.mig) (each == local ? own : others).push_back(gpu.uuid);
      if (each == local) {
        add(seen.gpus[i]);
        jobs.back().only_visible = seen.gpus.size() == 1;
        jobs.back().place = host.gpus;
      }
      ++host.gpus;
    }
  const bool masked = ranks.size() > 1 && !own.empty();
  own.insert(own.end(), others.begin(), others.end());
  host.visible_devices = masked ? fmt::format("{}", fmt::join(own, ",")) : "";
  if (jobs.empty()) {
    add(std::nullopt);
    fleet::GpuSummary& s = jobs.front().summary;
    s.source = Source::measured;
    s.uuid_hash.clear();
    s.reason = why_none(seen, ranks.size());
    s.exit_code = seen.code;
  }
  return jobs;
}

}  // namespace fathom
