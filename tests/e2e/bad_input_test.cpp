// What a user can get wrong: each is one sentence with what to do, and its own exit code.

#include "sandbox.h"
#include "tests/golden/golden.h"

using namespace fathom;

TEST_CASE("A wrong word on the command line gets the closest right one", "[e2e]") {
  Sandbox box({"first", "atlas_first"});
  const auto answer = [&](const std::string& line) {
    const CapturedRun run = box.call(line);
    refused(ExitCode::bad_input, run);
    CHECK_FALSE(fs::exists(box.out()));
    return run.errors;
  };
  CHECK(check_answers(FATHOM_GOLDEN_FOLDER "/mistakes.txt", "fathom", answer) == 97);
}

TEST_CASE("Every command has help with examples", "[e2e]") {
  Sandbox box({"first"});
  const std::string commands = box.call("--help").output,
                    models = box.call("predict --help").output;
  for (const std::string command : {"run", "list", "doctor", "report", "predict"}) {
    expect(0, box.fathom({command, "--help"})).says("Example", "fathom " + command).no_errors();
    has(commands, "  " + command);
  }
  CHECK(box.call("predict").output == models);
  for (const std::string model :
       {"shared", "global", "occupancy", "swizzle", "waves", "roofline", "transformer"}) {
    expect(0, box.fathom({"predict", model, "--help"}))
        .says("Examples:", "fathom predict " + model + " ", "--json");
    has(models, "  " + model + " ");
  }
}

TEST_CASE("list shows every probe with its claims, --version says the commit", "[e2e]") {
  Sandbox box({"first", "second"});
  const CapturedRun list = expect(0, box.call("list"));
  for (const std::string name : {"first", "second"})
    has(list.output, "What does " + name + " do?", "F-" + name, "quick", "default");
  expect(0, box.call("--version")).starts("fathom ").says("(");
}

TEST_CASE("Without probe programs a run replays, and one that must measure is refused", "[e2e]") {
  Sandbox box({});
  expect(0, box.run());
  refused(ExitCode::gpu_required, box.run({"--require-gpu"}), "--require-gpu");
  box.add_pci_device("0000:01:00.0");
  refused(ExitCode::setup_incomplete, box.run(), "./fathom run");
}

TEST_CASE("A document that is not there, torn or of another version is refused by all", "[e2e]") {
  Sandbox box({});
  const std::string recorded = FATHOM_RECORDING_FILE, key = "\"schema_version\": ";
  const std::string good = file_text(recorded);
  const auto at = good.find(key);
  REQUIRE(at != std::string::npos);
  const std::string other = good.substr(0, at) + key + "999" + good.substr(good.find(',', at));
  for (const std::string& command :
       {std::string("report bad.json --out new"), std::string("export csv bad.json --out new"),
        std::string("predict roofline --result bad.json"),
        "compare bad.json " + recorded + " --json new", "compare " + recorded + " bad.json"}) {
    CAPTURE(command);
    fs::remove(box.folder() / "bad.json");
    refused(ExitCode::bad_input, box.call(command), "bad.json");
    write_text(box.folder() / "bad.json", good.substr(0, good.size() / 2));
    refused(ExitCode::document_malformed, box.call(command), "bad.json");
    write_text(box.folder() / "bad.json", other);
    refused(ExitCode::document_version, box.call(command), "bad.json", "999");
    CHECK_FALSE(fs::exists(box.folder() / "new"));
  }
}

TEST_CASE("doctor says what is in order, and fails with the code of what is not", "[e2e]") {
  Sandbox box({"first"});
  expect(0, box.call("doctor")).says("OK    NVIDIA driver");
  for (const auto& [gpu, expected] : {std::pair{"none", ExitCode::no_driver},
                                      {"old", ExitCode::driver_too_old},
                                      {"lost", ExitCode::gpu_lost}}) {
    box.set("FAKE_GPU", gpu);
    expect(expected, box.call("doctor")).says("FAIL  NVIDIA driver", "-> Install it.");
    expect(expected, box.call("doctor --json")).starts("{\n  \"checks\": [");
  }
  box.set("FAKE_GPU", "present");
  expect(ExitCode::bad_input, box.call("doctor --device 7")).complains("There is no GPU 7.\n");
  box.set("FAKE_GPU", "strange");
  refused(ExitCode::setup_incomplete, box.run(), "gave no answer that fits");
  // A build without probes still says what is missing.
  Sandbox bare({});
  fs::create_directories(bare.folder() / "pci" / "0000:03:00.0");
  expect(ExitCode::no_driver, bare.call("doctor")).says("FAIL  NVIDIA driver", "no NVIDIA GPU");
  bare.add_pci_device("0000:03:00.0");
  expect(ExitCode::no_driver, bare.call("doctor")).says("0000:03:00.0 has no driver");
}
