// A machine without a GPU replays the recording, and nothing of it can pass for a measurement. A
// machine whose GPU cannot be used is told so instead.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>

#include "results/document_io.h"
#include "results/error.h"
#include "sandbox.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

/// A sandbox without a GPU, whose recording is a run of its fakes.
class Replaying : public Sandbox {
 public:
  Replaying() : Sandbox({"first", "second"}) {
    const auto recorded = folder() / "recorded";
    REQUIRE(code(fathom({"run", "--out", recorded.string()})) == 0);
    set("FATHOM_RECORDING", recorded / "result.json");
    set("FAKE_GPU", "none");
  }
};

TEST_CASE("Without a GPU a run is a replay, and says so everywhere and first", "[e2e]") {
  Replaying box;
  const auto run = box.run();
  INFO(run.output << run.errors);
  REQUIRE(code(run) == 0);
  CHECK_THAT(first_line(run.output), StartsWith("REPLAY") && ContainsSubstring("NVIDIA Fake 100") &&
                                         ContainsSubstring("2026-01-31"));
  CHECK(box.result().source == Source::replay);
  CHECK(entries_of(box.result(), "first") == 2);
  CHECK_THAT(box.report(), ContainsSubstring("REPLAY"));
  CHECK_THAT(run.output.substr(run.output.find('\n')), ContainsSubstring("REPLAY"));
}

TEST_CASE("The default folder of a replay has it in its name", "[e2e]") {
  Replaying box;
  REQUIRE(code(box.fathom({"run"})) == 0);
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(box.folder()))
    found += entry.path().filename().string().starts_with("fathom-replay-fake-100-");
  CHECK(found == 1);
}

TEST_CASE("A replay shows only the probes asked for", "[e2e]") {
  Replaying box;
  REQUIRE(code(box.run({"--probe", "second"})) == 0);
  const Document document = box.result();
  CHECK(document.probes.size() == 1);
  CHECK(entries_of(document, "first") == 0);
  CHECK(entries_of(document, "second") == 2);
  CHECK(document.claims.size() == 1);
}

TEST_CASE("What a replay cannot do is in its report", "[e2e]") {
  Replaying box;
  REQUIRE(code(box.run({"--suite", "quick", "--benchmark_filter=x"})) == 0);
  CHECK_THAT(box.report(), ContainsSubstring("quick"));
  const auto run =
      box.run({"--device", "1", "--no-counters", "--seed", "7", "--time-limit", "9", "--wait",
               "--start-together", "--benchmark_filter=x", "--benchmark_repetitions=2"});
  REQUIRE(code(run) == 0);
  const std::string note =
      "without effect were --device, --no-counters, --start-together, --wait, --seed, "
      "--time-limit, --benchmark_filter, --benchmark_repetitions.";
  CHECK_THAT(run.output, ContainsSubstring(note));
  CHECK_THAT(box.run({"--counters-of", "first"}).output,
             ContainsSubstring("without effect were --counters-of."));
  CHECK_THAT(box.run().output, !ContainsSubstring("without effect"));
}

TEST_CASE("The report of a replayed document is a replay's too", "[e2e]") {
  Replaying box;
  REQUIRE(code(box.run()) == 0);
  const auto again = box.fathom({"report", "out/result.json", "--out", "again"});
  REQUIRE(code(again) == 0);
  CHECK_THAT(first_line(again.output), StartsWith("REPLAY"));
  CHECK_THAT(read_text(box.folder() / "again" / "README.md"), ContainsSubstring("REPLAY"));
}

TEST_CASE("With --require-gpu a missing GPU is an error of one sentence", "[e2e]") {
  Replaying box;
  const auto run = box.run({"--require-gpu"});
  CHECK(code(run) == to_int(ExitCode::gpu_required));
  CHECK(run.output.empty());
  CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(box.out()));
}

TEST_CASE("A replay can be had beside a GPU, but not together with --require-gpu", "[e2e]") {
  Replaying box;
  box.set("FAKE_GPU", "present");
  const auto run = box.run({"--replay"});
  CHECK(code(run) == 0);
  CHECK_THAT(first_line(run.output), StartsWith("REPLAY"));
  CHECK(box.result().source == Source::replay);
  CHECK(code(box.run({"--replay", "--require-gpu"})) == to_int(ExitCode::bad_input));
}

TEST_CASE("A GPU that cannot be used is no missing GPU", "[e2e]") {
  Replaying box;
  const auto [gpu, expected] =
      GENERATE(table<std::string, ExitCode>({{"old", ExitCode::driver_too_old},
                                             {"lost", ExitCode::gpu_lost},
                                             {"exclusive", ExitCode::gpu_busy}}));
  CAPTURE(gpu);
  box.set("FAKE_GPU", gpu);
  const auto run = box.run();
  CHECK(code(run) == to_int(expected));
  CHECK(run.output.empty());
  CHECK_THAT(run.errors, StartsWith("fathom: The") || StartsWith("fathom: A"));
  CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
}

TEST_CASE("A GPU without a driver is told apart from no GPU", "[e2e]") {
  Replaying box;
  const auto device = box.folder() / "pci" / "0000:65:00.0";
  std::filesystem::create_directories(device);
  write_text(device / "vendor", "0x10de\n");
  write_text(device / "class", "0x030200\n");
  const auto run = box.run();
  CHECK(code(run) == to_int(ExitCode::no_driver));
  CHECK_THAT(run.errors, ContainsSubstring("0000:65:00.0"));
  write_text(device / "class", "0x040300\n");  // an audio device of the same vendor is no GPU
  CHECK(code(box.run()) == 0);
}

TEST_CASE("A suite's own recording is replayed, and the default one where it has none", "[e2e]") {
  Sandbox box({"first", "atlas_of_things"});
  const auto recordings = box.folder() / "recordings";
  const auto record = [&](const std::string& suite, const std::filesystem::path& folder) {
    REQUIRE(code(box.fathom({"run", "--suite", suite, "--out", folder.string()})) == 0);
  };
  record("default", recordings);
  box.set("FATHOM_RECORDING", recordings);
  box.set("FAKE_GPU", "none");
  const std::string other =
      "The suite `atlas` was asked for; the recording is of the suite `default`";
  auto run = box.run({"--suite", "atlas"});
  REQUIRE(code(run) == 0);
  CHECK_THAT(run.output, ContainsSubstring(other));
  CHECK(entries_of(box.result(), "first") == 2);

  box.set("FAKE_GPU", "present");
  record("atlas", recordings / "atlas");
  box.set("FAKE_GPU", "none");
  run = box.run({"--suite", "atlas"});
  REQUIRE(code(run) == 0);
  CHECK_THAT(run.output, !ContainsSubstring(other));
  CHECK(box.result().suite == "atlas");
  CHECK(box.result().source == Source::replay);
  CHECK(entries_of(box.result(), "atlas_of_things") == 2);
  CHECK(entries_of(box.result(), "first") == 0);
  // The size of its sweep that was not recorded comes closer than another suite.
  run = box.run({"--suite", "atlas-quick"});
  REQUIRE(code(run) == 0);
  CHECK_THAT(run.output, ContainsSubstring("The suite `atlas-quick` was asked for; the recording "
                                           "is of the suite `atlas`"));
  CHECK(entries_of(box.result(), "atlas_of_things") == 2);
  run = box.run({"--suite", "default"});
  REQUIRE(code(run) == 0);
  CHECK(box.result().suite == "default");
  CHECK(entries_of(box.result(), "first") == 2);
}

TEST_CASE("The terminal names the page atlas where there is one", "[e2e]") {
  Replaying box;
  CHECK_THAT(box.run().output, !ContainsSubstring("Atlas: "));
  Document document = read_document(box.folder() / "recorded" / "result.json");
  for (const char* level : {"l1", "l2"}) {
    Fact fact;
    fact.id = std::string(level) + ".latency";
    fact.subject = level;
    fact.quantity = "latency";
    fact.value = 30;
    fact.unit = "cycles";
    fact.probe = "first";
    document.facts.push_back(std::move(fact));
  }
  write_document(document, box.folder() / "recorded" / "result.json");
  const std::string atlas = "Atlas: " + (box.out() / "report" / "atlas.md").string();
  CHECK_THAT(box.run().output, ContainsSubstring(atlas));
  CHECK_THAT(read_text(box.out() / "report" / "atlas.md"), ContainsSubstring("REPLAY"));
  CHECK_THAT(box.fathom({"report", "out/result.json", "--out", "out/report"}).output,
             ContainsSubstring(atlas));
}

TEST_CASE("Without GPU and recording there is nothing to show", "[e2e]") {
  Replaying box;
  box.set("FATHOM_RECORDING", box.folder() / "absent.json");
  const auto run = box.run();
  CHECK(code(run) != 0);
  CHECK_THAT(run.errors, ContainsSubstring("absent.json"));
}

}  // namespace
}  // namespace fathom
