// A machine without a GPU replays the recording, and nothing of it can pass for a measurement. A
// machine whose GPU cannot be used is told so instead.

#include "sandbox.h"

namespace fathom {
namespace {

/// A sandbox without a GPU, whose recording is a run of its fakes.
class Replaying : public Sandbox {
 public:
  Replaying() : Sandbox({"first", "second"}) {
    const auto recorded = folder() / "recorded";
    expect(0, fathom({"run", "--out", recorded.string()}));
    set("FATHOM_RECORDING", recorded / "result.json");
    set("FAKE_GPU", "none");
  }
};

TEST_CASE("Without a GPU a run is a replay, and says so everywhere and first", "[e2e]") {
  Replaying box;
  refused(ExitCode::gpu_required, box.run({"--require-gpu"}));
  CHECK_FALSE(fs::exists(box.out()));
  const CapturedRun run = expect(0, box.run());
  CHECK_THAT(first_line(run.output),
             StartsWith("REPLAY") && contains("NVIDIA Fake 100") && contains("2026-01-31"));
  CHECK(box.result().source == Source::replay);
  CHECK(entries_of(box.result(), "first") == 2);
  has(box.report(), "REPLAY");
  has(run.output.substr(run.output.find('\n')), "REPLAY");
  // Only the probes asked for.
  expect(0, box.run({"--probe", "second"}));
  CHECK(box.result().probes.size() == 1);
  has_entries(box.result(), {{"first", 0}, {"second", 2}});
  CHECK(box.result().claims.size() == 1);
  // It can be had beside a GPU, but not together with --require-gpu.
  box.set("FAKE_GPU", "present");
  expect(0, box.run({"--replay"})).starts("REPLAY");
  CHECK(box.result().source == Source::replay);
  // Without a recording there is nothing to show, and of a torn one no half.
  box.set("FAKE_GPU", "none");
  box.set("FATHOM_RECORDING", box.folder() / "torn.json");
  refused(ExitCode::bad_input, box.run(), "torn.json");
  write_text(box.folder() / "torn.json", "{\"context\":");
  refused(ExitCode::document_malformed, box.run(), "torn.json");
}

TEST_CASE("A GPU that cannot be used is no missing GPU", "[e2e]") {
  Replaying box;
  for (const auto& [gpu, expected, said] :
       {std::tuple{"old", ExitCode::driver_too_old, "The driver is too old"},
        {"lost", ExitCode::gpu_lost, "The GPU is lost"},
        {"exclusive", ExitCode::gpu_busy, "A process holds the GPU"}}) {
    box.set("FAKE_GPU", gpu);
    refused(expected, box.run(), said);
  }
  // Nor one without a driver.
  box.set("FAKE_GPU", "none");
  box.add_pci_device("0000:65:00.0");
  expect(ExitCode::no_driver, box.run()).complains("0000:65:00.0");
  box.add_pci_device("0000:65:00.0", "0x040300");  // an audio device of the same vendor is no GPU
  expect(0, box.run());
}

TEST_CASE("A suite's own recording is replayed, and the default one where it has none", "[e2e]") {
  Sandbox box({"first", "atlas_of_things"});
  const auto recordings = box.folder() / "recordings";
  const auto record = [&](const std::string& suite, const fs::path& folder) {
    box.set("FAKE_GPU", "present");
    expect(0, box.fathom({"run", "--suite", suite, "--out", folder.string()}));
    box.set("FAKE_GPU", "none");
  };
  record("default", recordings);
  box.set("FATHOM_RECORDING", recordings);
  const std::string other =
      "The suite `atlas` was asked for; the recording is of the suite `default`";
  expect(0, box.run({"--suite", "atlas"})).says(other);
  CHECK(entries_of(box.result(), "first") == 2);

  record("atlas", recordings / "atlas");
  expect(0, box.run({"--suite", "atlas"})).never_says(other);
  CHECK(box.result().suite == "atlas");
  CHECK(box.result().source == Source::replay);
  has_entries(box.result(), {{"atlas_of_things", 2}, {"first", 0}});
  // The size of its sweep that was not recorded comes closer than another suite.
  expect(0, box.run({"--suite", "atlas-quick"}))
      .says("The suite `atlas-quick` was asked for; the recording is of the suite `atlas`");
  CHECK(entries_of(box.result(), "atlas_of_things") == 2);
  expect(0, box.run({"--suite", "default"}));
  CHECK(box.result().suite == "default");
  CHECK(entries_of(box.result(), "first") == 2);
}

TEST_CASE("The terminal names the page atlas where there is one", "[e2e]") {
  Replaying box;
  lacks(box.run().output, "Atlas: ");
  const fs::path recorded = FATHOM_RECORDING_FILE;
  box.set("FATHOM_RECORDING", recorded.parent_path() / "atlas/result.json");
  const std::string atlas = "Atlas: " + (box.out() / "report" / "atlas.md").string();
  has(box.run().output, atlas);
  has(file_text(box.out() / "report" / "atlas.md"), "REPLAY");
  has(box.fathom({"report", "out/result.json", "--out", "out/report"}).output, atlas);
}

}  // namespace
}  // namespace fathom
