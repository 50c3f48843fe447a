#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "reports/gate/rules.h"
#include "reports/gate/run_metrics.h"
#include "results/error.h"
#include "tests/fuzz/gate_fuzz.h"

using namespace fathom;
using namespace fathom::gate;
namespace fs = std::filesystem;

namespace {

const fs::path corpus = fs::path(FATHOM_SOURCE_DIR) / "tests/fuzz/corpus";

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string refusal_of(const std::string& text) {
  try {
    parse_run_metrics(text, "input");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::string rules_refusal(const std::string& text) {
  try {
    parse_rules(text, "rules.toml");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::bad_input);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("A result document gives its metrics, clocks and ratios", "[gate]") {
  const RunMetrics run = read_run_metrics(corpus / "fathom.json");
  CHECK(run.fathom);
  CHECK(!run.replay);
  CHECK(run.suite == "default");
  CHECK(run.metrics.size() > 5);
  bool ratio = false, clock = false;
  for (const MetricValue& metric : run.metrics) {
    ratio = ratio || (metric.name.find(" vs ") != std::string::npos && metric.unit == "x" &&
                      metric.better == Better::higher);
    CHECK(metric.problem.empty());
    clock = clock || metric.state.sm_clock_hz == 1.98e9;
  }
  CHECK(ratio);
  CHECK(clock);
}

TEST_CASE("A result document says what else went on: other processes, unsteady figures", "[gate]") {
  const RunMetrics quiet = read_run_metrics(corpus / "fathom.json");
  CHECK_FALSE(quiet.other_processes);
  CHECK_FALSE(quiet.unsteadiness);  // of four entries alone, the fifth has none
  const RunMetrics busy = read_run_metrics(corpus / "fathom_processes.json");
  CHECK(busy.other_processes == 1e308);
  CHECK(busy.unsteadiness == 0.5);
}

TEST_CASE("Google Benchmark's files are read: repetitions, aggregates, errors", "[gate]") {
  const RunMetrics run = read_run_metrics(corpus / "google_benchmark.json");
  CHECK(!run.fathom);
  CHECK(run.date == "2026-11-21T14:00:00Z");
  REQUIRE(run.metrics.size() == 3);
  CHECK(run.metrics[0].name == "BM_Sort/1024");
  CHECK(run.metrics[0].value == Catch::Approx(1500.5e-6));
  CHECK(run.metrics[1].value == Catch::Approx(3.5e-3));
  CHECK(run.metrics[2].problem == "it failed: no file");
}

TEST_CASE("Every file of the corpus is decided on or refused in one sentence", "[gate]") {
  std::size_t files = 0;
  for (const auto& file : fs::directory_iterator(corpus)) {
    const std::string text = text_of(file.path());
    const auto* data = reinterpret_cast<const std::uint8_t*>(text.data());
    fuzz_document(data, text.size());  // aborts where that is not so
    if (text.size() > 1) fuzz_rules(data + 1, text.size() - 1);
    ++files;
  }
  CHECK(files >= 24);
}

TEST_CASE("Refusals say where and what", "[gate]") {
  CHECK(refusal_of("").find("is empty") != std::string::npos);
  CHECK(refusal_of(text_of(corpus / "nan.json")).find("line 1, column") != std::string::npos);
  CHECK(
      refusal_of(text_of(corpus / "twice.json")).find("/context has the key \"num_cpus\" twice") !=
      std::string::npos);
  CHECK(refusal_of(text_of(corpus / "deep.json")).find("deeper than 64 levels") !=
        std::string::npos);
  CHECK(refusal_of(text_of(corpus / "wrong_type.json")).find("/benchmarks is a number") !=
        std::string::npos);
  CHECK(refusal_of(text_of(corpus / "baseline_twice.json")).find("two metrics named \"a/b\"") !=
        std::string::npos);
  CHECK(refusal_of("{\"context\": {}}").find("neither \"context\" nor") != std::string::npos);
}

TEST_CASE("A huge file is refused before it is parsed", "[gate]") {
  const fs::path huge = fs::temp_directory_path() / "fathom-huge.json";
  { std::ofstream file(huge); }
  fs::resize_file(huge, 1u << 30);  // sparse
  try {
    read_run_metrics(huge);
    FAIL("a file of 1 GiB was read");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("is larger than 256 MiB") != std::string::npos);
  }
  fs::remove(huge);
}

TEST_CASE("Rules are read, and need their reason", "[gate]") {
  const Rules rules = parse_rules(
      "[[metric]]\nname = \"copy/*\"\nthreshold = 0.03\nreason = \"noisy\"\n"
      "[[metric]]\nname = \"*\"\nignore = true\nreason = \"later\"\n",
      "rules.toml");
  REQUIRE(rules.size() == 2);
  REQUIRE(find_rule(rules, "copy/x"));
  CHECK(find_rule(rules, "copy/x")->threshold == 0.03);
  CHECK(find_rule(rules, "other")->ignore);
  CHECK(!find_rule({}, "other"));

  CHECK(rules_refusal("[[metric]]\nname = \"a\"\nignore = true\n").find("no `reason`") !=
        std::string::npos);
  CHECK(rules_refusal("[[metric]]\nname = \"a\"\nignore = true\nreason = \" \"\n").find("line 4") !=
        std::string::npos);
  CHECK(rules_refusal("[[metric]]\nname = \"a\"\nreason = \"b\"\n").find("either `threshold` or") !=
        std::string::npos);
  CHECK(rules_refusal("[[metric]]\nname = \"a\"\ntreshold = 1\n").find("`threshold`") !=
        std::string::npos);
  CHECK(rules_refusal("[[metric]]\nname = \"a\"\nthreshold = nan\nreason = \"b\"\n")
            .find("above 0") != std::string::npos);
  CHECK(rules_refusal("metric = 3\n").find("[[metric]]") != std::string::npos);
  CHECK(rules_refusal("[[metric\n").find("is not TOML") != std::string::npos);
}

TEST_CASE("Rules are of any letters where TOML has them, and of no others elsewhere", "[gate]") {
  const Rules rules = parse_rules(
      "\xEF\xBB\xBF[[metric]]\nname = \"größe~7E*\"\nignore = true\nreason = 'später ~ 10 %' # é\n",
      "rules.toml");
  REQUIRE(rules.size() == 1);
  CHECK(rules[0].pattern == "größe~7E*");
  CHECK(rules[0].reason == "später ~ 10 %");
  CHECK(rules_refusal("[[metric]]\nгод = 1\n").find("line 2: is not TOML") != std::string::npos);
  CHECK(rules_refusal("[[metric]]\n~41 = 1\n").find("is not TOML") != std::string::npos);
  CHECK(rules_refusal("[[metric]]\nname = \"\xff\"\n").find("is not UTF-8") != std::string::npos);
  CHECK(rules_refusal("[[[metric\"]]\n").find("is not TOML") != std::string::npos);
}
