// `fathom fleet run --part` from outside: independent jobs that write into one folder.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <memory>
#include <set>

#include "fleet_run.h"
#include "results/error.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;

fs::path folder_of(const Sandbox& box, int number) {
  return box.out() / "gpus" / ("box-" + std::to_string(number));
}

std::string hash_in(const fs::path& folder) {
  const std::string text = read_text(folder / "gpu.json");
  return text.empty() ? "" : json::parse(text).at("uuid_hash").get<std::string>();
}

TEST_CASE("GPUs beside one that another run measures have all of their parts", "[e2e][fleet]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "3");
  REQUIRE(code(box.fathom(fleet_run(box))) == 0);
  const int held = open((folder_of(box, 0) / ".lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(held >= 0);
  REQUIRE(flock(held, LOCK_EX | LOCK_NB) == 0);
  const auto run = box.fathom(fleet_run(box));
  INFO(run.output << run.errors);
  CHECK(code(run) != 0);
  for (const int gpu : {1, 2}) {
    CAPTURE(gpu);
    const json summary = json::parse(read_text(folder_of(box, gpu) / "gpu.json"));
    CHECK(summary.at("metrics").at("alone").at(0) == 1e-6);
  }
  close(held);
}

TEST_CASE("Jobs of one GPU each on one host keep out of each other's folders", "[e2e][fleet]") {
  Sandbox box({"lasting"});
  box.set("FAKE_GPUS", "4");
  box.set("FAKE_RELEASE", box.folder() / "release");
  const auto words = fleet_run(box, {"--part"});
  std::vector<std::unique_ptr<Background>> jobs;
  for (const char* gpu : {"GPU-0", "GPU-1", "GPU-2", "GPU-3"}) {
    box.set("CUDA_VISIBLE_DEVICES", gpu);
    jobs.push_back(std::make_unique<Background>(words));
  }
  for (int gpu = 0; gpu < 4; ++gpu)
    REQUIRE(wait_for_text(folder_of(box, gpu) / "suite" / "logs" / "lasting.log", "log of"));
  // The last one's GPU again, while it is measured.
  const auto twice = must_end(box, words, ExitCode::gpu_busy);
  CHECK_THAT(twice.errors, ContainsSubstring("another job measures box GPU"));
  write_text(box.folder() / "release", "");
  for (auto& job : jobs) {
    const int status = job->wait();
    INFO(job->output());
    CHECK(status == 0);
  }
  std::set<std::string> hashes;
  for (int gpu = 0; gpu < 4; ++gpu) hashes.insert(hash_in(folder_of(box, gpu)));
  CHECK(hashes.size() == 4);
  must_end(box, {"fleet", "collect", box.out().string()});
  CHECK(fleet_of(box.out()).at("gpus").size() == 4);
  // Once more, in another order: each finds its own again.
  box.set("CUDA_VISIBLE_DEVICES", "GPU-2");
  REQUIRE(code(box.fathom(words)) == 0);
  CHECK_FALSE(fs::exists(folder_of(box, 4)));
  for (int gpu = 0; gpu < 4; ++gpu) CHECK(hashes.erase(hash_in(folder_of(box, gpu))) == 1);
}

TEST_CASE("Machines of one name keep apart, in one folder and in several", "[e2e][fleet]") {
  Sandbox box({"first", "links"});
  auto words = fleet_run(box, {"--part", "--alone", "none"});
  std::erase(words, "--no-links");
  const auto measure_on = [&](const char* machine, const char* gpu) {
    box.set("FATHOM_MACHINE", machine);
    box.set("CUDA_VISIBLE_DEVICES", gpu);
    must_end(box, words);
  };
  const auto collected = [&](const fs::path& folder) {
    must_end(box, {"fleet", "collect", folder.string(), "--out", box.out().string()});
    const json fleet = fleet_of(box.out());
    std::multiset<std::string> hosts;
    for (const json& gpu : fleet.at("gpus")) hosts.insert(gpu.at("host"));
    // Those of each run, of which each had a GPU of its own.
    CHECK(fleet.at("links").size() == hosts.size());
    return hosts;
  };
  box.set("FAKE_GPUS", "3");
  measure_on("one", "GPU-0");
  measure_on("two", "GPU-1");
  measure_on("one", "GPU-2");
  CHECK(collected(box.out()) == std::multiset<std::string>{"box", "box", "box-2"});
  // Restarted, which its GPUs tell.
  measure_on("one again", "GPU-2");
  CHECK(collected(box.out()) == std::multiset<std::string>{"box", "box", "box-2"});
  // Each into a folder of its own: both are box.
  fs::remove_all(box.out());
  measure_on("one", "GPU-0");
  fs::create_directories(box.folder() / "jobs");
  fs::rename(box.out(), box.folder() / "jobs" / "a");
  measure_on("two", "GPU-1");
  fs::rename(box.out(), box.folder() / "jobs" / "b");
  CHECK(collected(box.folder() / "jobs") == std::multiset<std::string>{"box", "box-2"});
  CHECK_THAT(read_text(box.out() / "report" / "README.md"),
             ContainsSubstring("2 machines have this name: they are told apart as box, box-2"));
}

TEST_CASE("A second run keeps off the GPUs that one measures into the same folder",
          "[e2e][fleet]") {
  Sandbox box({"lasting"});
  box.set("FAKE_GPUS", "2");
  box.set("FAKE_RELEASE", box.folder() / "release");
  const auto words = fleet_run(box, {"--alone", "none"});
  Background first(words);
  for (int gpu = 0; gpu < 2; ++gpu)
    REQUIRE(wait_for_text(folder_of(box, gpu) / "suite" / "logs" / "lasting.log", "log of"));
  const auto second = must_end(box, words, ExitCode::gpu_busy);
  CHECK_THAT(second.errors, ContainsSubstring("choose another folder with --out"));
  CHECK_FALSE(fs::exists(box.out() / "fleet.json"));
  write_text(box.folder() / "release", "");
  CHECK(first.wait() == 0);
  CHECK(fleet_of(box.out()).at("problems").empty());
}

TEST_CASE("A part whose check fails ends as that", "[e2e][fleet]") {
  Sandbox box({"first", "mismatch"});
  CHECK(code(box.fathom(fleet_run(box, {"--part"}))) == to_int(ExitCode::check_failed));
  CHECK(code(box.fathom({"fleet", "collect", box.out().string()})) ==
        to_int(ExitCode::check_failed));
}

TEST_CASE("Parts that a launcher starts replay as a GPU each", "[e2e][fleet]") {
  Sandbox box({"first"});
  box.set("OMPI_COMM_WORLD_SIZE", "3");
  for (const char* rank : {"2", "0", "1", "1"}) {
    box.set("OMPI_COMM_WORLD_RANK", rank);
    must_end(box, fleet_run(box, {"--part", "--replay"}));
  }
  CHECK(code(box.fathom({"fleet", "collect", box.out().string()})) == 0);
  CHECK(fleet_of(box.out()).at("gpus").size() == 3);
}

}  // namespace
}  // namespace fathom
