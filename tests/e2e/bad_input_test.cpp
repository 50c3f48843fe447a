// What a user can get wrong: each is one sentence with what to do, and its own exit code.

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

void check_refused(const CapturedRun& run, ExitCode expected, const std::string& said) {
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(expected));
  CHECK_THAT(run.errors, StartsWith("fathom: ") && ContainsSubstring(said));
  CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
  CHECK(run.output.empty());
}

struct Mistake {
  std::vector<std::string> arguments;
  const char* said;
};

TEST_CASE("A wrong word on the command line gets the closest right one", "[e2e]") {
  const auto mistake = GENERATE(
      Mistake{{"rum"}, "Did you mean `run`?"}, Mistake{{"xyzzy"}, "fathom --help"},
      Mistake{{"test"}, "./fathom test"},
      Mistake{{"run", "--probe", "frist"}, "Did you mean `first`?"},
      Mistake{{"run", "--probe", "nothing_like_it"}, "fathom list"},
      Mistake{{"run", "--requre-gpu"}, "Did you mean `--require-gpu`?"},
      Mistake{{"run", "--suite", "fast"}, "quick"}, Mistake{{"run", "--device", "-1"}, "--device"},
      Mistake{{"run", "--device", "zero"}, "--device"},
      Mistake{{"run", "--time-limit", "0"}, "--time-limit"},
      Mistake{{"run", "--time-limit", "1e30"}, "1000000 at most: see"},
      Mistake{{"run", "--device", "99999999999"},
              "is not a whole number from 0 to 2147483647: see"},
      Mistake{{"run", "--device"}, "--device needs a value: see"},
      Mistake{{"run", "--no-counters=x"}, "--no-counters does not take `x`: see"},
      Mistake{{"run", "--out", ""}, "--out: it is empty"},
      Mistake{{"report", ""}, "FILE: it is empty"},
      Mistake{{"baseline", "list", "--baseline", ""}, "--baseline: it is empty"},
      Mistake{{"history", ""}, "DIR: it is empty"},
      Mistake{{"predict", "waves", "--gemm", "1", "2"}, "--gemm needs 3 values, not 2: see"},
      Mistake{{"run", "--benchmark_fliter=x"}, "Did you mean `--benchmark_filter`?"},
      Mistake{{"run", "--benchmark_out=x"}, "--out"}, Mistake{{"run", "first"}, "first"},
      Mistake{{"list", "--suite=quick"}, "--suite"},
      Mistake{{"list", "--benchmark_filter=x"}, "--benchmark_filter"},
      Mistake{{"--versoin"}, "Did you mean `--version`?"}, Mistake{{"report"}, "FILE"});
  Sandbox box({"first"});
  check_refused(box.fathom(mistake.arguments), ExitCode::bad_input, mistake.said);
}

TEST_CASE("Nowhere to write to, standard error included, is an exit code", "[e2e]") {
  Sandbox box({});
  const auto run = run_and_capture(
      "/bin/sh",
      {"-c", "\"$1\" predict occupancy --threads 256 --registers 32 > /dev/full 2> /dev/full", "sh",
       FATHOM_PROGRAM},
      std::chrono::seconds(30));
  CHECK(code(run) == to_int(ExitCode::output_full));
}

TEST_CASE("Every command has help with examples", "[e2e]") {
  const std::string command = GENERATE("run", "list", "doctor", "report", "predict");
  Sandbox box({"first"});
  const auto help = box.fathom({command, "--help"});
  CHECK(code(help) == 0);
  CHECK_THAT(help.output, ContainsSubstring("Example") && ContainsSubstring("fathom " + command));
  CHECK(help.errors.empty());
  CHECK_THAT(box.fathom({"--help"}).output, ContainsSubstring("  " + command));
}

TEST_CASE("The flag --version says version and commit", "[e2e]") {
  Sandbox box({});
  const auto version = box.fathom({"--version"});
  CHECK(code(version) == 0);
  CHECK_THAT(version.output, StartsWith("fathom ") && ContainsSubstring("("));
}

TEST_CASE("Without probe programs a run replays, and one that must measure is refused", "[e2e]") {
  Sandbox box({});
  CHECK(code(box.run()) == 0);
  check_refused(box.run({"--require-gpu"}), ExitCode::gpu_required, "--require-gpu");
  const auto device = box.folder() / "gpus" / "0000:01:00.0";
  std::filesystem::create_directories(device);
  write_text(device / "vendor", "0x10de\n");
  write_text(device / "class", "0x030200\n");
  box.set("FATHOM_PCI_DEVICES", device.parent_path());
  check_refused(box.run(), ExitCode::setup_incomplete, "./fathom run");
}

TEST_CASE("A document that is none, torn or of another version is refused", "[e2e]") {
  Sandbox box({"first"});
  REQUIRE(code(box.run()) == 0);
  const std::string good = read_text(box.out() / "result.json");
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

TEST_CASE("list shows every probe with question and claims", "[e2e]") {
  Sandbox box({"first", "second"});
  const auto list = box.fathom({"list"});
  CHECK(code(list) == 0);
  for (const std::string name : {"first", "second"})
    CHECK_THAT(list.output,
               ContainsSubstring("What does " + name + " do?") && ContainsSubstring("F-" + name));
  CHECK_THAT(list.output, ContainsSubstring("quick") && ContainsSubstring("default"));
}

TEST_CASE("doctor says what is in order, and fails with the code of what is not", "[e2e]") {
  Sandbox box({"first"});
  const auto well = box.fathom({"doctor"});
  CHECK(code(well) == 0);
  CHECK_THAT(well.output, ContainsSubstring("OK    NVIDIA driver") &&
                              ContainsSubstring("Disk space"));
  const auto [gpu, expected] =
      GENERATE(table<std::string, ExitCode>({{"none", ExitCode::no_driver},
                                             {"old", ExitCode::driver_too_old},
                                             {"lost", ExitCode::gpu_lost}}));
  box.set("FAKE_GPU", gpu);
  const auto ill = box.fathom({"doctor"});
  CHECK(code(ill) == to_int(expected));
  CHECK_THAT(ill.output,
             ContainsSubstring("FAIL  NVIDIA driver") && ContainsSubstring("-> Install it."));
  CHECK_THAT(box.fathom({"doctor", "--json"}).output, StartsWith("{\n  \"checks\": ["));
}

TEST_CASE("doctor of a build without probes still says what is missing", "[e2e]") {
  Sandbox box({});
  const auto devices = box.folder() / "devices";
  std::filesystem::create_directories(devices / "0000:03:00.0");
  box.set("FATHOM_PCI_DEVICES", devices);
  const auto none = box.fathom({"doctor"});
  CHECK(code(none) == to_int(ExitCode::no_driver));
  CHECK_THAT(none.output, ContainsSubstring("FAIL  NVIDIA driver") &&
                              ContainsSubstring("no NVIDIA GPU") &&
                              ContainsSubstring("Disk space"));
  write_text(devices / "0000:03:00.0" / "vendor", "0x10de\n");
  write_text(devices / "0000:03:00.0" / "class", "0x030200\n");
  const auto without_driver = box.fathom({"doctor"});
  CHECK(code(without_driver) == to_int(ExitCode::no_driver));
  CHECK_THAT(without_driver.output, ContainsSubstring("0000:03:00.0 has no driver"));
}

TEST_CASE("An answer about the GPU that does not fit is refused in one sentence", "[e2e]") {
  Sandbox box({"first"});
  box.set("FAKE_GPU", "strange");
  check_refused(box.run(), ExitCode::setup_incomplete, "gave no answer that fits");
}

TEST_CASE("report goes beside its document by default", "[e2e]") {
  Sandbox box({"first"});
  REQUIRE(code(box.run()) == 0);
  const std::string before = box.report();
  std::filesystem::remove_all(box.out() / "report");
  const auto run = box.fathom({"report", "out/result.json"});
  CHECK(code(run) == 0);
  CHECK(box.report() == before);  // the same document gives the same bytes
  CHECK(last_line(run.output) == "Explore: " + (box.out() / "report" / "index.html").string());
}

}  // namespace
}  // namespace fathom
