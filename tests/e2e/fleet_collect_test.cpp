// `fathom fleet collect` from outside: many jobs' documents, whatever of them is missing or torn.

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>

#include "fleet_run.h"
#include "results/error.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A simulated fleet below `folder`.
void simulate(const fs::path& folder, int gpus, int planted) {
  const auto made = run_and_capture(FATHOM_FLEET_SIMULATE,
                                    {FATHOM_RECORDING_FILE, "--out", folder.string(), "--gpus",
                                     std::to_string(gpus), "--planted", std::to_string(planted)},
                                    std::chrono::seconds(60));
  INFO(made.errors);
  REQUIRE(code(made) == 0);
}

TEST_CASE("A simulated fleet is collected, and its slow cards are named", "[e2e][fleet]") {
  Sandbox box({"first"});
  const fs::path jobs = box.folder() / "jobs";
  simulate(jobs, 400, 5);
  // A host that never came, a card's file that is torn, and one whose writer died.
  fs::remove_all(jobs / "node0007");
  const fs::path torn = jobs / "node0011" / "3" / "gpu.json";
  fs::resize_file(torn, 2000);
  write_text(jobs / "node0012" / "gpu.json.77-x.tmp", "{");
  write_text(box.folder() / "hosts", "# all\nnode0007\nnode0011\n\n");
  const auto run =
      must_end(box,
               {"fleet", "collect", jobs.string(), "--out", box.out().string(), "--expect-hosts",
                (box.folder() / "hosts").string(), "--expect-gpus", "400", "--host", "node0020"},
               ExitCode::incomplete);
  CHECK(run.errors.empty());
  const json fleet = fleet_of(box.out());
  CHECK(fleet.at("gpus").size() == 391);
  CHECK(fleet.at("named").size() == 5);
  CHECK(fleet.at("problems").size() == 4);
  CHECK(fleet.at("named").at(0).at("findings").at(0).contains("likely_causes"));
  const std::string page = read_text(box.out() / "report" / "README.md");
  CHECK_THAT(page, ContainsSubstring("REPLAY"));
  CHECK_THAT(page, ContainsSubstring("The ten worst"));
  CHECK_THAT(page, ContainsSubstring("node0011/3/gpu.json"));
  CHECK_THAT(page, ContainsSubstring("host node0007"));
  CHECK(fs::exists(box.out() / "report" / "host-node0020.md"));
  // The same again gives the same.
  box.fathom({"fleet", "collect", jobs.string(), "--out", (box.folder() / "again").string(),
              "--expect-hosts", (box.folder() / "hosts").string(), "--expect-gpus", "400"});
  CHECK(read_text(box.folder() / "again" / "fleet.json") == read_text(box.out() / "fleet.json"));
}

TEST_CASE("A named card fails a strict collection, and no other", "[e2e][fleet]") {
  Sandbox box({"first"});
  const auto collect = [&](const fs::path& jobs, std::vector<std::string> more) {
    more.insert(more.begin(), {"fleet", "collect", jobs.string(), "--no-report"});
    const auto run = box.fathom(more);
    INFO(run.output << run.errors);
    CHECK(run.errors.empty());
    return code(run);
  };
  simulate(box.folder() / "good", 40, 0);
  CHECK(collect(box.folder() / "good", {"--strict"}) == 0);
  simulate(box.folder() / "bad", 40, 1);
  CHECK(collect(box.folder() / "bad", {}) == 0);
  CHECK(collect(box.folder() / "bad", {"--strict"}) == to_int(ExitCode::check_failed));
  // What is missing is worse: of that nobody knows whether it is slow.
  CHECK(collect(box.folder() / "bad", {"--strict", "--expect-gpus", "41"}) ==
        to_int(ExitCode::incomplete));
  CHECK(collect(box.folder() / "bad", {"--strict", "--least-gap", "50"}) == 0);
}

/// What a fleet of 10,000 may take, 10 s on two processors and 1 GiB, as the share of this one; the
/// pictures take the same time for any. FATHOM_FLEET_TEST_GPUS asks for another size.
TEST_CASE("A large fleet is collected within its time and memory", "[e2e][fleet]") {
  const char* asked = std::getenv("FATHOM_FLEET_TEST_GPUS");
  const int gpus = asked ? std::atoi(asked) : 1000, planted = gpus / 100;
  const double share = gpus / 10'000.0, pictures_s = 2, start_mib = 64;
  Sandbox box({"first"});
  simulate(box.folder() / "jobs", gpus, planted);
  const auto spent_s = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  const double before_s = spent_s();
  must_end(box,
           {"fleet", "collect", (box.folder() / "jobs").string(), "--out", box.out().string()});
  CHECK(spent_s() - before_s < 2 * 10 * share + pictures_s);
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);  // of the largest: making the fleet takes less
  CHECK(static_cast<double>(usage.ru_maxrss) / 1024 < 1024 * share + start_mib);
  const json fleet = fleet_of(box.out());
  CHECK(fleet.at("gpus").size() == static_cast<std::size_t>(gpus));
  CHECK(fleet.at("links").size() == static_cast<std::size_t>(gpus / 8));
  CHECK(fleet.at("named").size() >= static_cast<std::size_t>(planted));
  CHECK(fleet.at("named").size() <= static_cast<std::size_t>(planted + gpus / 1000));
  CHECK(fs::file_size(box.out() / "report" / "README.md") < 1 << 20);
}

TEST_CASE("Plain runs of several hosts are collected as well", "[e2e][fleet]") {
  Sandbox box({"first"});
  for (const char* gpu : {"GPU-0", "GPU-1", "GPU-2"}) {
    box.set("CUDA_VISIBLE_DEVICES", gpu);
    REQUIRE(code(box.fathom(
                {"run", "--out", (box.folder() / "jobs" / gpu).string(), "--no-report"})) == 0);
  }
  must_end(box, {"fleet", "collect", (box.folder() / "jobs").string()});
  const json fleet = fleet_of(box.folder() / "jobs");
  REQUIRE(fleet.at("gpus").size() == 3);
  CHECK(fleet.at("gpus").at(1).at("host") == "GPU-1");
  // What collect itself left is no job's.
  CHECK(code(box.fathom({"fleet", "collect", (box.folder() / "jobs").string()})) == 0);
}

TEST_CASE("What cannot be collected is told in one sentence", "[e2e][fleet]") {
  Sandbox box({"first"});
  const auto refused = [&](std::vector<std::string> words, const std::string& saying) {
    words.insert(words.begin(), {"fleet", "collect"});
    const auto run = must_end(box, words, ExitCode::bad_input);
    CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
    CHECK_THAT(run.errors, ContainsSubstring(saying));
  };
  fs::create_directories(box.folder() / "empty");
  refused({(box.folder() / "empty").string()}, "holds no result");
  refused({(box.folder() / "nowhere").string()}, "cannot be read");
  refused({}, "DIR is required");
  refused({"x", "--expect-gpus", "none"}, "not a whole number");
  refused({"x", "--least-gap", "0"}, "not a number above 0");
  refused({"x", "--expect-hosts", "/nowhere"}, "/nowhere");
  refused({"x", "--bogus"}, "--bogus");
}

TEST_CASE("The word after fleet has to be a command of it", "[e2e][fleet]") {
  Sandbox box({"first"});
  const auto run = box.fathom({"fleet", "colect"});
  CHECK(code(run) == to_int(ExitCode::bad_input));
  CHECK_THAT(run.errors, ContainsSubstring("collect"));
  const auto help = box.fathom({"fleet", "run", "--help"});
  CHECK(code(help) == 0);
  CHECK_THAT(help.output, ContainsSubstring("mpirun"));
}

}  // namespace
}  // namespace fathom
