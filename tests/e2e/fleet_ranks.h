#pragma once

// What the tests of ranks share: a probe that lasts until it may end, and whom to kill meanwhile.

#include <sys/types.h>

#include <thread>

#include "fleet_run.h"

namespace fathom {

/// Holds the probe `lasting` until it is released.
class Gate {
 public:
  explicit Gate(Sandbox& box) : file_(box.folder() / "release") { box.set("FAKE_RELEASE", file_); }
  void open() const { write_text(file_, ""); }
  void close() const { fs::remove(file_); }

 private:
  fs::path file_;
};

/// Process numbers of what ranks measure in and of the ranks themselves, by rank.
inline std::map<int, std::pair<pid_t, pid_t>> ranks_in(const fs::path& out) {
  std::map<pid_t, std::pair<int, pid_t>> all;  // rank and parent, by process
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string command = read_text(entry.path() / "cmdline");
    const auto words = std::string("fleet\0run", 9);
    if (command.find(words) == std::string::npos || command.find("mpirun") != std::string::npos ||
        command.find(out.string()) == std::string::npos)
      continue;
    const std::string environment = read_text(entry.path() / "environ");
    // Open MPI's, MPICH's, or srun's.
    std::string variable;
    auto at = std::string::npos;
    for (const char* name : {"OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "SLURM_PROCID="})
      if (at == std::string::npos) at = environment.find(variable = name);
    const std::string status = read_text(entry.path() / "status");
    const auto parent = status.find("PPid:");
    if (at == std::string::npos || parent == std::string::npos) continue;
    all[std::atoi(entry.path().filename().c_str())] = {
        std::atoi(environment.c_str() + at + variable.size()),
        std::atoi(status.c_str() + parent + 5)};
  }
  std::map<int, std::pair<pid_t, pid_t>> ranks;
  for (const auto& [process, rank_and_parent] : all)
    if (all.contains(rank_and_parent.second) &&
        all[rank_and_parent.second].first == rank_and_parent.first)
      ranks[rank_and_parent.first] = {process, rank_and_parent.second};
  return ranks;
}

/// Once every GPU of these folders has begun its suite, with the probe `lasting` in it.
inline std::map<int, std::pair<pid_t, pid_t>> wait_for_ranks(const Sandbox& box,
                                                             const std::vector<std::string>& gpus) {
  const auto has_begun = [&](const std::string& gpu) {
    const fs::path log = box.out() / "gpus" / gpu / "suite" / "logs" / "lasting.log";
    return read_text(log).find("log of") != std::string::npos;
  };
  for (int i = 0; i < 1500; ++i) {
    if (std::ranges::all_of(gpus, has_begun)) return ranks_in(box.out());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

}  // namespace fathom
