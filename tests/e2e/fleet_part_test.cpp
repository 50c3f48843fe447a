// `fathom fleet run --part` from outside: independent jobs that write into one folder.

#include <fcntl.h>
#include <sys/file.h>

#include "fleet_run.h"

using namespace fathom;

TEST_CASE("A run keeps off the GPUs that another measures into the same folder", "[e2e][fleet]") {
  Sandbox box({"first"}, 3);
  run_fleet(box);
  std::vector<FileDescriptor> held;
  const auto hold = [&](int gpu) {
    held.emplace_back(open((gpu_folder(box.out(), gpu) / ".lock").c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(flock(held.back().get(), LOCK_EX | LOCK_NB) == 0);
  };
  hold(0);
  const auto run = box.fathom(fleet_run(box));
  INFO(run.output << run.errors);
  CHECK(code(run) != 0);
  for (const int gpu : {1, 2}) {  // with all of their parts
    CAPTURE(gpu);
    CHECK(summary_in(box.out(), gpu).at("metrics").at("alone").at(0) == 1e-6);
    hold(gpu);
  }
  fs::remove(box.out() / "fleet.json");
  expect(ExitCode::gpu_busy, box.fathom(fleet_run(box)))
      .complains("choose another folder with --out");
  CHECK_FALSE(fs::exists(box.out() / "fleet.json"));
}

TEST_CASE("Jobs of one GPU each on one host keep out of each other's folders", "[e2e][fleet]") {
  Sandbox box({"lasting"}, 4);
  box.set("FAKE_RELEASE", box.folder() / "release");
  const auto words = fleet_run(box, {"--part"});
  std::vector<std::unique_ptr<Background>> jobs;
  for (const char* gpu : {"GPU-0", "GPU-1", "GPU-2", "GPU-3"}) {
    box.set("CUDA_VISIBLE_DEVICES", gpu);
    jobs.push_back(std::make_unique<Background>(words));
  }
  for (int gpu = 0; gpu < 4; ++gpu)
    REQUIRE(wait_for_text(gpu_folder(box.out(), gpu) / "suite" / "logs" / "lasting.log", "log of"));
  // The last one's GPU again, while it is measured.
  expect(ExitCode::gpu_busy, box.fathom(words)).complains("another job measures box GPU");
  write_text(box.folder() / "release", "");
  for (auto& job : jobs) {
    const int status = job->wait();
    INFO(job->output());
    CHECK(status == 0);
  }
  CHECK(collect_fleet(box).at("gpus").size() == 4);
  // Once more: it finds its own again.
  expect(0, box.fathom(words));
  CHECK_FALSE(fs::exists(gpu_folder(box.out(), 4)));
}

TEST_CASE("A part whose check fails ends as that", "[e2e][fleet]") {
  Sandbox box({"first", "mismatch"});
  expect(ExitCode::check_failed, box.fathom(fleet_run(box, {"--part"})));
  collect_fleet(box, ExitCode::check_failed);
}
