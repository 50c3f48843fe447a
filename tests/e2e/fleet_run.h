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
  json collect(ExitCode expected = ExitCode::ok) const {
    expect(expected, call("fleet collect out"));
    return fleet();
  }
  json fleet() const { return json::parse(file_text(out() / "fleet.json")); }
  fs::path gpu_folder(int gpu) const { return out() / "gpus" / fmt::format("box-{}", gpu); }
  json summary(int gpu) const { return json::parse(file_text(gpu_folder(gpu) / "gpu.json")); }
  /// The GPU's figures of its first metric are the fakes'.
  void has_figures(int gpu, std::initializer_list<const char*> parts) const {
    for (const char* part : parts) CHECK(summary(gpu).at("metrics").at(part).at(0) == 1e-6);
  }

  /// In turn, none while another measures, and all of them ready before the first of all does.
  void check_turns(int gpus, const std::string& probe) const {
    const auto at = [&](int gpu, const std::string& log, const char* what) {
      return number_in(gpu_folder(gpu) / "alone" / (log + ".log"), what);
    };
    for (int gpu = 0; gpu < gpus; ++gpu) {
      CAPTURE(gpu, probe);
      CHECK(at(gpu, probe, "ready") > 0);
      CHECK(at(gpu, probe, "ready") < at(0, "links", "began"));
      if (gpu > 0) CHECK(at(gpu - 1, probe, "ended") < at(gpu, probe, "began"));
    }
  }

  /// For a fake probe in the suite of each GPU: whether it was to collect counters. Alone it never
  /// is.
  std::vector<bool> counting(int gpus, const std::string& probe = "first") const {
    const auto of = [&](int gpu, const char* part) {
      const std::string log = file_text(gpu_folder(gpu) / part / "logs" / (probe + ".log"));
      has(log, "log of " + probe);
      const bool counts = log.find("flag --no-counters") == log.npos;
      CHECK((log.find("timed only") == log.npos) == counts);
      return counts;
    };
    std::vector<bool> all;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      if (fs::exists(gpu_folder(gpu) / "alone")) CHECK_FALSE(of(gpu, "alone"));
      all.push_back(of(gpu, "suite"));
    }
    return all;
  }

  /// The probes that each GPU's summary says it was to collect counters for.
  std::vector<Names> counters_of() const {
    std::vector<Names> all;
    for (const json fleet = this->fleet(); const json& gpu : fleet.at("gpus")) {
      all.push_back(gpu.at("counters_of"));
      CHECK(summary(gpu.at("gpu")).at("counters_of") == all.back());
    }
    return all;
  }

  /// Its first page.
  std::string page() const { return report(); }
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
