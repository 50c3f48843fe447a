// fathom-fleet-rank: one rank of `fathom fleet run`, which starts and supervises it. The only
// program with MPI in it; what it measures, its children measure.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "reports/fleet/fleet.h"
#include "results/atomic_file.h"
#include "results/document_io.h"
#include "results/error.h"
#include "tools/fleet/mpi_ranks.h"
#include "tools/fleet/parcel.h"
#include "tools/fleet/run_arguments.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace {

using namespace fathom;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Ends the process where MPI_Finalize would wait for a rank that is gone.
[[noreturn]] void leave(ExitCode code) {
  std::fflush(stdout);
  std::fflush(stderr);
  _exit(to_int(code));
}

/// This rank's GPUs: all that it sees where it is its host's only one, else the one of its local
/// rank, or the one that the launcher shows it. A rank without one, or with another's, has a job
/// that says so.
std::vector<GpuJob> jobs_of_rank(const FleetRunArguments& arguments, const MpiJob& job,
                                 const MpiHostTurns& turns) {
  const std::string& host = arguments.host_name;
  const int local = turns.local_rank();
  std::vector<GpuJob> jobs;
  if (arguments.replay) {
    const int count = turns.local_size() == 1 ? arguments.gpus : 1;
    for (int i = 0; i < count; ++i)
      jobs.push_back(replay_job(host, local + i, local + i, job.rank()));
    return jobs;
  }
  std::string problem;
  int code = to_int(ExitCode::incomplete);
  try {
    const auto gpus = query_gpus(program_folder());
    const std::size_t first = gpus.size() == 1 ? 0 : static_cast<std::size_t>(local);
    const std::size_t end = turns.local_size() == 1 ? gpus.size() : first + 1;
    for (std::size_t i = first; i < std::min(end, gpus.size()); ++i) {
      const int number = local + static_cast<int>(i - first);
      jobs.push_back(job_of(gpus[i], host, number, number, job.rank()));
    }
    if (jobs.empty())
      problem = fmt::format("no GPU is left for it: its host has {} ranks and {} GPUs",
                            turns.local_size(), gpus.size());
  } catch (const Error& error) {
    problem = error.what();
    code = to_int(error.code());
  }
  const auto taken = turns.exchange(jobs.empty() ? "" : jobs.front().summary.uuid_hash);
  for (int other = 0; !jobs.empty() && other < local; ++other) {
    if (taken[static_cast<std::size_t>(other)] != jobs.front().summary.uuid_hash) continue;
    problem = fmt::format("local rank {} has the same GPU: start one rank a GPU", other);
    jobs.clear();
  }
  if (jobs.empty()) {
    jobs.push_back(replay_job(host, local, local, job.rank()));
    jobs.front().summary.source = Source::measured;
    jobs.front().summary.reason = problem;
    jobs.front().summary.exit_code = code;
  }
  return jobs;
}

/// Whether all ranks write to one storage: rank 0 leaves a file, and each looks for it.
bool shares_storage(const MpiJob& job, const fs::path& root) {
  std::uint64_t token = 0;
  if (job.rank() == 0) {
    token = std::random_device()() | 1u;
    make_folder(root);
    write_file_atomically(root / ".fleet-storage", std::to_string(token));
  }
  MPI_Bcast(&token, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  bool same = false;
  try {
    same = read_file_up_to(root / ".fleet-storage", 64) == std::to_string(token);
  } catch (const Error&) {
    same = false;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.rank() == 0) {
    std::error_code ignored;
    fs::remove(root / ".fleet-storage", ignored);
  }
  return same;
}

/// This rank's documents; only the summary where rank 0 sees the rest itself.
std::string parcel_of(const std::vector<GpuJob>& jobs, const FleetFolder& folder, bool leader,
                      bool shared) {
  Parcel parcel;
  const auto add = [&](const fs::path& file) {
    if (fs::exists(file))
      parcel.add(file.lexically_relative(folder.root).string(),
                 read_file_up_to(file, document_size_limit));
  };
  for (const GpuJob& job : jobs) {
    const fs::path own = folder.gpu(job.summary.host, job.summary.gpu);
    add(own / fleet::summary_file);
    if (shared) continue;
    for (const char* part : {"alone", "together", "suite"}) add(own / part / "result.json");
  }
  if (leader && !shared) add(folder.links(jobs.front().summary.host) / "result.json");
  return parcel.text();
}

/// What came of the other ranks, and why of some nothing did.
class Gathered {
 public:
  Gathered(const MpiJob& job, const FleetFolder& folder)
      : gathering_(job.size()), folder_(folder) {}

  void wait(double limit_s, SignalInbox& inbox) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
    auto next_look = Clock::now();
    while (!gathering_.complete() && Clock::now() < deadline && inbox.interrupts() == 0) {
      gathering_.poll([&](int rank, std::string&& text) { unpack(rank, text); });
      if (Clock::now() >= next_look) {
        look_for_notes();
        next_look = Clock::now() + std::chrono::milliseconds(300);
      }
      inbox.drain();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const std::string why = inbox.interrupts() > 0 ? "the job was ended before it answered"
                                                   : fmt::format(
                                                         "it did not answer within {} s after "
                                                         "rank 0 was done (--wait)",
                                                         limit_s);
    for (const int rank : std::set<int>(gathering_.waiting())) give_up(rank, why);
  }

  const std::set<int>& gone() const { return gone_; }
  std::vector<fleet::Problem> problems;

 private:
  void unpack(int rank, const std::string& text) {
    try {
      for (const Parcel::File& file : Parcel::open(text)) {
        const fs::path path = folder_.root / file.name;
        make_folder(path.parent_path());
        if (!fs::exists(path) || path.filename() == fleet::summary_file)
          write_file_atomically(path, file.content);
      }
    } catch (const Error& error) {
      problems.push_back({fmt::format("rank {}", rank), error.what(), to_int(error.code())});
    }
  }

  void give_up(int rank, const std::string& why) {
    problems.push_back({fmt::format("rank {}", rank), why, to_int(ExitCode::incomplete)});
    gathering_.give_up(rank);
    gone_.insert(rank);
  }

  /// What supervisors of ranks that died have left.
  void look_for_notes() {
    for (const int rank : std::set<int>(gathering_.waiting())) {
      if (!fs::exists(folder_.rank_note(rank))) continue;
      try {
        const auto note = nlohmann::json::parse(read_file_up_to(folder_.rank_note(rank), 1 << 16));
        give_up(rank, fmt::format("on {}: {}", note.at("host").get<std::string>(),
                                  note.at("reason").get<std::string>()));
      } catch (const std::exception&) {
        give_up(rank, "it died");
      }
    }
  }

  Gathering gathering_;
  const FleetFolder& folder_;
  std::set<int> gone_;
};

/// Rank 0 has died, and all others are done or dead: the first of them to leave may end the job.
bool first_is_gone(const MpiJob& job, const FleetFolder& folder) {
  if (!fs::exists(folder.rank_note(0))) return false;
  for (int rank = 1; rank < job.size(); ++rank)
    if (!fs::exists(folder.rank_done(rank)) && !fs::exists(folder.rank_note(rank))) return false;
  return true;
}

ExitCode report(const FleetRunArguments& arguments, const MpiJob& job, SignalInbox& inbox,
                Gathered& gathered) {
  gathered.wait(arguments.wait_s, inbox);
  fleet::Expected expected = expected_of(arguments.report);
  fleet::Fleet fleet = fleet::read_fleet(arguments.report.out, expected);
  fleet.problems.insert(fleet.problems.end(), gathered.problems.begin(), gathered.problems.end());
  const ExitCode code = publish_fleet(fleet, arguments.report);
  if (!gathered.gone().empty())
    fmt::print("{} of {} ranks did not answer; what they left before is in the report.\n",
               gathered.gone().size(), job.size());
  return code;
}

FleetRunArguments parse(int argc, char** argv) {
  FleetRunArguments arguments;
  CLI::App app("One rank of `fathom fleet run`.", "fathom-fleet-rank");
  add_run_flags(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    app.exit(wanted);
    std::exit(0);
  } catch (const CLI::ParseError& error) {
    throw Error(ExitCode::bad_input,
                fmt::format("{}: see `fathom fleet run --help`.", error.what()));
  }
  complete(arguments);
  return arguments;
}

ExitCode run(int argc, char** argv) {
  const FleetRunArguments arguments = parse(argc, argv);
  MpiJob job(&argc, &argv);
  SignalInbox inbox(SignalInbox::Interrupts::collect);
  const std::chrono::duration<double> limit(arguments.time_limit_s);
  MpiHostTurns turns(limit, inbox);
  const FleetFolder folder{arguments.report.out};
  const bool shared = shares_storage(job, folder.root);
  std::vector<GpuJob> jobs = jobs_of_rank(arguments, job, turns);
  turns.set_gpus(std::max(turns.local_size(), static_cast<int>(jobs.size())));
  if (job.rank() == 0) {
    fmt::print("{} ranks, suite {}, into {}.\n", job.size(), arguments.suite, folder.root.string());
    std::fflush(stdout);
  }
  HostMeasurement(arguments, folder, jobs, turns, inbox).run();
  if (job.rank() != 0) {
    make_folder(folder.rank_done(job.rank()).parent_path());
    write_file_atomically(folder.rank_done(job.rank()), "");
    Sending sending(parcel_of(jobs, folder, turns.leader(), shared));
    // Rank 0 may have as much to do as this one had, and to wait for others besides.
    const auto goodbye =
        wait_for_goodbye(3 * limit + std::chrono::duration<double>(arguments.wait_s), inbox,
                         [&] { return first_is_gone(job, folder); });
    if (goodbye.value_or(false)) {
      sending.finish();
      job.finalize();
      return ExitCode::ok;
    }
    // The launcher ends this rank with rank 0; one that ends before takes others with it.
    if (goodbye) std::this_thread::sleep_for(std::chrono::seconds(3));
    leave(inbox.interrupts() > 0 ? ExitCode::interrupted : ExitCode::ok);
  }
  Gathered gathered(job, folder);
  const ExitCode code = report(arguments, job, inbox, gathered);
  if (!gathered.gone().empty()) {
    make_folder(folder.all_done().parent_path());
    write_file_atomically(folder.all_done(), "");
  }
  const bool all = gathered.gone().empty() && inbox.interrupts() == 0;
  say_goodbye(job.size(), gathered.gone(), all);
  if (!all) leave(code);
  job.finalize();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return to_int(run(argc, argv));
  } catch (const Error& error) {
    fmt::print(stderr, "fathom: {}\n", error.what());
    leave(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "fathom: {}\n", error.what());
    leave(ExitCode::output_unwritable);
  }
}
