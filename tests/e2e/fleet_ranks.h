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

inline pid_t parent_of(pid_t process) {
  const std::string status = read_text(fmt::format("/proc/{}/status", process));
  return std::atoi(status.c_str() + status.find("PPid:") + 5);
}

/// Process numbers of what ranks measure in and of the ranks themselves, by rank, once every GPU of
/// these folders has begun its suite, with the probe `lasting` in it.
inline std::map<int, std::pair<pid_t, pid_t>> wait_for_ranks(const Sandbox& box,
                                                             const std::vector<std::string>& gpus) {
  std::map<int, std::pair<pid_t, pid_t>> ranks;
  for (int rank = 0; const std::string& gpu : gpus) {
    const fs::path log = box.out() / "gpus" / gpu / "suite" / "logs" / "lasting.log";
    if (!wait_for_text(log, "pids ") && !wait_for_text(log, "pids ")) return {};
    const pid_t run = parent_of(pids_in(log).at(0)), measuring = parent_of(run);
    ranks[rank++] = {measuring, parent_of(measuring)};
  }
  return ranks;
}

}  // namespace fathom
