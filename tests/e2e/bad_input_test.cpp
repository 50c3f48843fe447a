// What a user can get wrong: each is one sentence with what to do, and its own exit code.

#include "sandbox.h"

using namespace fathom;

static void check_refused(const CapturedRun& run, ExitCode expected, const std::string& said) {
  expect(expected, run).is_one_sentence().by_fathom().complains(said);
}

TEST_CASE("A wrong word on the command line gets the closest right one", "[e2e]") {
  const auto mistake = GENERATE(values<Mistake>(
      {{"rum", "Did you mean `run`?"},
       {"xyzzy", "fathom --help"},
       {"run --probe frist", "Did you mean `first`?"},
       {"run --probe nothing_like_it", "fathom list"},
       {"run --start-together", "--no-counters"},
       {"run --requre-gpu", "Did you mean `--require-gpu`?"},
       {"run --suite fast", "quick"},
       {"run --time-limit 0", "--time-limit"},
       {"run --time-limit 1e30", "1000000 at most: see"},
       {"run --device 99999999999", "is not a whole number from 0 to 2147483647: see"},
       {"run --device", "--device needs a value: see"},
       {"run --no-counters=x", "--no-counters does not take `x`: see"},
       {"run --out ''", "--out: it is empty"},
       {"report ''", "FILE: it is empty"},
       {"baseline list --baseline ''", "--baseline: it is empty"},
       {"history ''", "DIR: it is empty"},
       {"predict waves --gemm 1 2", "--gemm needs 3 values, not 2: see"},
       {"run --benchmark_fliter=x", "Did you mean `--benchmark_filter`?"},
       {"run --benchmark_out=x", "no flag --benchmark_out"},
       {"run first", "first"},
       {"list --suite=quick", "--suite"},
       {"list --benchmark_filter=x", "--benchmark_filter"},
       {"--versoin", "Did you mean `--version`?"},
       {"report", "FILE"}}));
  Sandbox box({"first"});
  check_refused(box.fathom(words(mistake.line)), ExitCode::bad_input, mistake.said);
}

TEST_CASE("Nowhere to write to, standard error included, is an exit code", "[e2e]") {
  Sandbox box({});
  expect(ExitCode::output_full,
         box.shell("$F predict occupancy --threads 256 --registers 32 > /dev/full 2> /dev/full"));
}

TEST_CASE("Every command has help with examples", "[e2e]") {
  Sandbox box({"first"});
  for (const std::string command : {"run", "list", "doctor", "report", "predict"}) {
    expect(0, box.fathom({command, "--help"})).says("Example", "fathom " + command).no_errors();
    has(box.fathom({"--help"}).output, "  " + command);
  }
  const std::string models = box.fathom({"predict", "--help"}).output;
  CHECK(box.fathom({"predict"}).output == models);
  for (const std::string model :
       {"shared", "global", "occupancy", "swizzle", "waves", "roofline", "transformer"}) {
    expect(0, box.fathom({"predict", model, "--help"}))
        .says("Examples:", "fathom predict " + model + " ", "--json");
    has(models, "  " + model + " ");
  }
}

TEST_CASE("list shows every probe with its claims, --version says the commit", "[e2e]") {
  Sandbox box({"first", "second"});
  const CapturedRun list = expect(0, box.fathom({"list"}));
  for (const std::string name : {"first", "second"})
    has(list.output, "What does " + name + " do?", "F-" + name, "quick", "default");
  expect(0, box.fathom({"--version"})).starts("fathom ").says("(");
}

TEST_CASE("Without probe programs a run replays, and one that must measure is refused", "[e2e]") {
  Sandbox box({});
  expect(0, box.run());
  check_refused(box.run({"--require-gpu"}), ExitCode::gpu_required, "--require-gpu");
  box.add_pci_device("0000:01:00.0");
  check_refused(box.run(), ExitCode::setup_incomplete, "./fathom run");
}

TEST_CASE("A document that is none, torn or of another version is refused", "[e2e]") {
  Sandbox box({"first"});
  expect(0, box.run());
  const std::string good = file_text(box.out() / "result.json");
  const std::string key = "\"schema_version\": ";
  const auto at = good.find(key);
  REQUIRE(at != std::string::npos);
  const auto refused = [&](ExitCode expected, const char* said) {
    check_refused(box.fathom({"report", "bad.json", "--out", "bad"}), expected, said);
    CHECK_FALSE(std::filesystem::exists(box.folder() / "bad"));
  };
  refused(ExitCode::bad_input, "bad.json");  // it is not there yet
  for (const std::string& text :
       {std::string("once upon a time"), std::string(), good.substr(0, good.size() / 2),
        std::string(R"({"context": {}, "benchmarks": []})")}) {
    write_text(box.folder() / "bad.json", text);
    refused(ExitCode::document_malformed, "bad.json");
  }
  write_text(box.folder() / "bad.json",
             good.substr(0, at) + key + "999" + good.substr(good.find(',', at)));
  refused(ExitCode::document_version, "999");
}

TEST_CASE("A torn recording is no reason for a half replay", "[e2e]") {
  Sandbox box({"first"});
  write_text(box.folder() / "torn.json", "{\"context\":");
  box.set("FATHOM_RECORDING", box.folder() / "torn.json");
  box.set("FAKE_GPU", "none");
  check_refused(box.run(), ExitCode::document_malformed, "torn.json");
}

TEST_CASE("doctor says what is in order, and fails with the code of what is not", "[e2e]") {
  Sandbox box({"first"});
  expect(0, box.fathom({"doctor"})).says("OK    NVIDIA driver");
  for (const auto& [gpu, expected] : {std::pair{"none", ExitCode::no_driver},
                                      {"old", ExitCode::driver_too_old},
                                      {"lost", ExitCode::gpu_lost}}) {
    box.set("FAKE_GPU", gpu);
    expect(expected, box.fathom({"doctor"})).says("FAIL  NVIDIA driver", "-> Install it.");
    expect(expected, box.fathom({"doctor", "--json"})).starts("{\n  \"checks\": [");
  }
  box.set("FAKE_GPU", "strange");
  check_refused(box.run(), ExitCode::setup_incomplete, "gave no answer that fits");
  // A build without probes still says what is missing.
  Sandbox bare({});
  std::filesystem::create_directories(bare.folder() / "pci" / "0000:03:00.0");
  expect(ExitCode::no_driver, bare.fathom({"doctor"})).says("FAIL  NVIDIA driver", "no NVIDIA GPU");
  bare.add_pci_device("0000:03:00.0");
  expect(ExitCode::no_driver, bare.fathom({"doctor"})).says("0000:03:00.0 has no driver");
}

TEST_CASE("report goes beside its document by default", "[e2e]") {
  Sandbox box({"first"});
  expect(0, box.run());
  const std::string before = box.report();
  std::filesystem::remove_all(box.out() / "report");
  const CapturedRun run = expect(0, box.fathom({"report", "out/result.json"}));
  CHECK(box.report() == before);  // the same document gives the same bytes
  CHECK(last_line(run.output) == "Explore: " + (box.out() / "report" / "index.html").string());
}
