#pragma once

// What the tests of `fathom fleet run` share: its words, what it leaves behind, whose turn it was;
// a probe that lasts until it may end, and whom to kill meanwhile.

#include <sys/types.h>

#include <nlohmann/json.hpp>

#include "sandbox.h"

namespace fathom {

using nlohmann::json;

inline json fleet_of(const fs::path& out) { return json::parse(file_text(out / "fleet.json")); }

inline const json* gpu_of(const json& fleet, int number) {
  for (const json& gpu : fleet.at("gpus"))
    if (gpu.at("gpu") == number) return &gpu;
  return nullptr;
}

inline fs::path gpu_folder(const fs::path& out, int gpu) {
  return out / "gpus" / ("box-" + std::to_string(gpu));
}

inline json summary_in(const fs::path& out, int gpu) {
  return json::parse(file_text(gpu_folder(out, gpu) / "gpu.json"));
}

inline std::string reason_of(const json& fleet, int number) {
  const json* gpu = gpu_of(fleet, number);
  return gpu ? gpu->at("reason").get<std::string>() : "not there";
}

/// Its first page.
inline std::string page_of(const fs::path& out) { return file_text(out / "report" / "README.md"); }

inline std::string status_of(const json& fleet, int number) {
  const json* gpu = gpu_of(fleet, number);
  return gpu ? gpu->at("status").get<std::string>() : "not there";
}

inline std::vector<std::string> fleet_run(const Sandbox& box, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"fleet", "run", "--out", box.out().string(), "--no-links"};
  const auto unless_given = [&](const char* flag, const char* value) {
    if (std::ranges::find(more, flag) == more.end()) words.insert(words.end(), {flag, value});
  };
  unless_given("--suite", "quick");
  unless_given("--alone", "full");
  unless_given("--host-name", "box");
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The answer of such a run, which has to end as expected.
inline json run_fleet(Sandbox& box, std::vector<std::string> more = {},
                      ExitCode expected = ExitCode::ok) {
  expect(expected, box.fathom(fleet_run(box, std::move(more))));
  return fleet_of(box.out());
}

inline json collect_fleet(Sandbox& box, ExitCode expected = ExitCode::ok) {
  expect(expected, box.fathom({"fleet", "collect", box.out().string()}));
  return fleet_of(box.out());
}

/// In turn, none while another measures, and all of them ready before the first of all does.
inline void check_turns(const fs::path& out, int gpus, const std::string& probe) {
  const auto at = [&](int gpu, const char* part, const char* what) {
    return number_in(gpu_folder(out, gpu) / part / (probe + ".log"), what);
  };
  for (int gpu = 0; gpu < gpus; ++gpu) {
    CAPTURE(gpu, probe);
    CHECK(at(gpu, "alone", "ready") > 0);
    CHECK(at(gpu, "alone", "ready") <
          number_in(out / "gpus" / "box-0" / "alone" / "links.log", "began"));
    if (gpu > 0) CHECK(at(gpu - 1, "alone", "ended") < at(gpu, "alone", "began"));
  }
}

/// For a fake probe in the suite of each GPU: whether it was to collect counters. Alone it never
/// is.
inline std::vector<bool> counting(const fs::path& out, int gpus,
                                  const std::string& probe = "first") {
  std::vector<bool> all;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const fs::path folder = gpu_folder(out, gpu);
    const auto of = [&](const char* part) {
      const std::string log = file_text(folder / part / "logs" / (probe + ".log"));
      REQUIRE_THAT(log, Catch::Matchers::ContainsSubstring("log of " + probe));
      const bool counts = log.find("flag --no-counters") == std::string::npos;
      CHECK((log.find("timed only") == std::string::npos) == counts);
      return counts;
    };
    if (fs::exists(folder / "alone")) CHECK_FALSE(of("alone"));
    all.push_back(of("suite"));
  }
  return all;
}

/// The probes that each GPU's summary says it was to collect counters for.
inline std::vector<std::vector<std::string>> counters_of(const fs::path& out, int gpus) {
  std::vector<std::vector<std::string>> all;
  const json fleet = fleet_of(out);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    all.push_back(gpu_of(fleet, gpu)->at("counters_of"));
    CHECK(summary_in(out, gpu).at("counters_of") == all.back());
  }
  return all;
}

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
