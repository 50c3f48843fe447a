#include "fleet/rank/rank_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "results/error.h"
#include "results/format.h"
#include "fleet/run/assign_gpus.h"

namespace fathom {
namespace {

/// What a rank sees, or why it sees nothing.
struct Seen {
  std::vector<VisibleGpu> gpus;
  std::string problem;
  int code = to_int(ExitCode::incomplete);
};

Seen seen_by(GpusQuery& query) {
  Seen seen;
  try {
    seen.gpus = query.answer();
  } catch (const Error& error) {
    seen.problem = error.what();
    seen.code = to_int(error.code());
  }
  return seen;
}

/// UUID hashes, which have no space in them.
std::vector<std::vector<std::string>> seen_by_all(const Seen& own, const MpiHostTurns& turns) {
  std::vector<std::string> hashes;
  for (const VisibleGpu& gpu : own.gpus) hashes.push_back(gpu.uuid_hash);
  std::vector<std::vector<std::string>> all;
  for (const std::string& text : turns.exchange(fmt::format("{}", fmt::join(hashes, " ")))) {
    std::istringstream words(text);
    std::vector<std::string>& of = all.emplace_back();
    for (std::string word; words >> word;) of.push_back(word);
  }
  return all;
}

std::string why_none(const Seen& seen, const MpiHostTurns& turns) {
  if (!seen.problem.empty()) return seen.problem;
  if (seen.gpus.size() == 1)
    return fmt::format(
        "the only GPU that it sees is a rank's before it: start one rank a GPU, and let each see "
        "its own or all of its host's ({} ranks are there)",
        turns.local_size());
  return fmt::format("no GPU is left for it: its host has {}, and it sees {}",
                     counted(static_cast<std::size_t>(turns.local_size()), "rank"),
                     counted(seen.gpus.size(), "GPU"));
}

/// The same of all ranks, this one's first.
std::string devices_of_host(const std::vector<GpuJob>& own, const MpiHostTurns& turns) {
  // A MIG device is not seen beside others, and its UUID is written another way.
  const bool whole = std::ranges::all_of(own, [](const GpuJob& job) {
    return job.gpu && job.gpu->name.find(" MIG ") == std::string::npos;
  });
  std::vector<std::string> list;
  for (const GpuJob& job : own)
    if (job.gpu) list.push_back(job.gpu->uuid);
  const auto all = turns.exchange(whole && list.size() == 1 ? list.front() : "");
  for (const std::string& uuid : all)
    if (!uuid.empty() && std::ranges::find(list, uuid) == list.end()) list.push_back(uuid);
  return whole && turns.local_size() > 1 ? fmt::format("{}", fmt::join(list, ",")) : "";
}

}  // namespace

std::vector<GpuJob> jobs_of_rank(const FleetRunArguments& arguments, int rank, MpiHostTurns& turns,
                                 std::optional<GpusQuery>& gpus) {
  const std::string& host = arguments.host_name;
  const int local = turns.local_rank();
  std::vector<GpuJob> jobs;
  if (!gpus) {
    const int count = turns.local_size() == 1 ? arguments.gpus : 1;
    for (int i = 0; i < count; ++i) jobs.push_back(replay_job(host, local + i, local + i, rank));
    turns.set_gpus(std::max(turns.local_size(), count), "");
    return jobs;
  }
  const Seen seen = seen_by(*gpus);
  const auto assigned = assign_gpus(seen_by_all(seen, turns));
  const auto taken = assigned.at(static_cast<std::size_t>(local));
  const auto measured = [](auto from, auto to) {
    return static_cast<std::size_t>(
        std::count_if(from, to, [](const auto& gpu) { return gpu.has_value(); }));
  };
  const bool all = turns.local_size() == 1;
  for (std::size_t i = 0; i < seen.gpus.size(); ++i) {
    if (!all && i != taken) continue;
    const int number = all ? static_cast<int>(i) : local;
    jobs.push_back(job_of(seen.gpus[i], host, number, number, rank));
    jobs.back().only_visible = seen.gpus.size() == 1;
    jobs.back().place = all ? i : measured(assigned.begin(), assigned.begin() + local);
    jobs.back().measured = all ? seen.gpus.size() : measured(assigned.begin(), assigned.end());
  }
  if (jobs.empty()) {
    jobs.push_back(replay_job(host, local, local, rank));
    jobs.front().summary.source = Source::measured;
    jobs.front().summary.uuid_hash.clear();
    jobs.front().summary.reason = why_none(seen, turns);
    jobs.front().summary.exit_code = seen.code;
  }
  turns.set_gpus(std::max(turns.local_size(), static_cast<int>(jobs.size())),
                 devices_of_host(jobs, turns));
  return jobs;
}

}  // namespace fathom
