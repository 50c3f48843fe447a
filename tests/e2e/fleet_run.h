#pragma once

// What the tests of `fathom fleet run` share: its words, what it leaves behind, whose turn it was;
// a probe that lasts until it may end, and whom to kill meanwhile.

#include <sys/types.h>

#include <nlohmann/json.hpp>

#include "sandbox.h"

namespace fathom {

using nlohmann::json;
using Names = std::vector<std::string>;

inline const json& gpu_of(const json& fleet, int number) {
  const auto gpu = std::ranges::find_if(fleet.at("gpus"),
                                        [&](const json& each) { return each.at("gpu") == number; });
  REQUIRE(gpu != fleet.at("gpus").end());
  return *gpu;
}
inline std::string reason_of(const json& fleet, int number) {
  return gpu_of(fleet, number).at("reason");
}
/// The status of each GPU, in their order.
inline Names statuses(const json& fleet) {
  Names all;
  for (const json& gpu : fleet.at("gpus")) all.push_back(gpu.at("status"));
  return all;
}

/// A sandbox whose GPUs are a fleet's, on the host `box`.
class FleetBox : public Sandbox {
 public:
  using Sandbox::Sandbox;
  bool links = false;  ///< whether a run measures them

  /// The words of a run with these flags.
  Names run_words(const std::string& flags = "") const {
    std::string line = "fleet run --out " + out().string() + (links ? " " : " --no-links ");
    for (const std::string flag : {"--suite quick ", "--alone full ", "--host-name box "})
      if (flags.find(flag.substr(0, flag.find(' '))) == flags.npos) line += flag;
    return words(line + flags);
  }
  /// The answer of such a run, which has to end as expected.
  json run_fleet(const std::string& flags = "", ExitCode expected = ExitCode::ok) const {
    expect(expected, fathom(run_words(flags)));
    return fleet();
  }
  json fleet() const { return json::parse(file_text(out() / "fleet.json")); }
  fs::path gpu_folder(int gpu) const { return out() / "gpus" / fmt::format("box-{}", gpu); }
  /// The GPU's figure of its first metric, alone, is the fakes'.
  void has_figures_alone(int gpu) const {
    const json summary = json::parse(file_text(gpu_folder(gpu) / "gpu.json"));
    CHECK(summary.at("metrics").at("alone").at(0) == 1e-6);
  }
};

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
  const std::string status = file_text(fmt::format("/proc/{}/status", process));
  return std::atoi(status.c_str() + status.find("PPid:") + 5);
}

/// What a rank measures in, and the rank itself.
struct RankProcesses {
  pid_t measuring, rank;
};
/// Each rank's processes, once every GPU of these folders has begun its suite, with the probe
/// `lasting` in it; fewer where one does not begin.
inline std::vector<RankProcesses> wait_for_ranks(const Sandbox& box, const Names& gpus) {
  std::vector<RankProcesses> ranks;
  for (const std::string& gpu : gpus) {
    const fs::path log = box.out() / "gpus" / gpu / "suite" / "logs" / "lasting.log";
    if (!wait_for_text(log, "pids ") && !wait_for_text(log, "pids ")) break;
    const pid_t measuring = parent_of(parent_of(pids_in(log).at(0)));
    ranks.push_back({measuring, parent_of(measuring)});
  }
  return ranks;
}

}  // namespace fathom
