// What the gate reads: results, files of other tools, rules. Those under tests/data/gate were
// written by the tools themselves (hyperfine 1.15, pytest-benchmark 5.3, Google Benchmark 1.7,
// Criterion 0.3; hosts and CPU flags are edited), but for nvbench's, which is written after its
// documented format.

#include <unistd.h>

#include "gate/decision.h"
#include "gate/run_metrics.h"
#include "results/document.h"
#include "results/text.h"
#include "tests/fuzz/gate_fuzz.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::gate;
namespace fs = std::filesystem;

namespace {

const fs::path tests = fs::path(FATHOM_SOURCE_DIR) / "tests", tool_files = tests / "data/gate",
               corpus = tests / "fuzz/corpus";

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.7g}", *value) : "unknown";
}

/// All that was read but the date, which may be the file's.
std::string text_of(const RunMetrics& run) {
  char here[256] = "";
  gethostname(here, sizeof here - 1);
  std::string text = fmt::format(
      "  {} of {}, commit {}, suite {}, {} s, {} other processes, unsteadiness {}\n",
      run.replay ? "replay" : "run", run.fathom ? "Fathom" : "another tool", run.commit,
      clean(run.suite), run.elapsed_s, number(run.other_processes), number(run.unsteadiness));
  for (const auto& [fact, value] : run.identity)
    text += fmt::format("  {}: {}\n", clean(fact),
                        fact == "host_name" && value == here ? "this machine" : clean(value));
  for (const auto& [name, unit, better, value, elapsed_s, state, problem, interval] : run.metrics) {
    text += fmt::format("  {} = {} {}, {} is better, in {} s", clean(name), number(value),
                        clean(unit), to_string(better), number(elapsed_s));
    if (state.sm_clock_hz || state.memory_clock_hz || state.power_w)
      text += fmt::format("; {} Hz, {} Hz, {} W", number(state.sm_clock_hz),
                          number(state.memory_clock_hz), number(state.power_w));
    for (const std::string& reason : state.throttle_reasons) text += ", " + reason;
    if (interval)
      text += fmt::format("; {} to {} with {}, {}", number(interval->low), number(interval->high),
                          number(interval->confidence), interval->method);
    text += (problem.empty() ? "\n" : ": " + clean(problem) + "\n");
  }
  return text;
}

/// What becomes of a text: what is read of it, or why nothing is.
std::string outcome_of(const std::string& text) {
  std::string outcome;
  const Refusal refused = refusal_of([&] {
    const RunMetrics run = parse_run_metrics(text, "input");
    outcome = fmt::format("  of {}\n{}", run.date.empty() ? "no date" : run.date, text_of(run));
  });
  // The JSON library's own words are of its version.
  const std::string sentence = refused.text.substr(0, refused.text.find(": syntax error"));
  if (outcome.empty()) outcome = fmt::format("  {}: {}\n", to_int(refused.code), sentence);
  return outcome;
}

/// The same of texts that are given here.
std::string outcomes_of(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += clean(text) + "\n" + outcome_of(text);
  return all;
}

std::string google(const std::string& rows, const std::string& context = R"("host_name": "h")") {
  return R"({"context": {)" + context + R"(}, "benchmarks": [)" + rows + "]}";
}

/// Fathom's own file, with one metric: its unit, value and SM clock.
std::string own_file(const std::string& unit, const std::string& value,
                     const std::string& clock = "null",
                     const std::string& date = "2026-01-31T12:00:00Z") {
  return fmt::format(R"({{"fathom_baseline": 1, "program": "fathom", "date": "{}", "commit": "",
      "suite": "", "identity": {{}}, "metrics": [["a/b", "{}", "lower", {}, {}, null, null]]}})",
                     date, unit, value, clock);
}

}  // namespace

TEST_CASE("Files of every tool are read, with the fastest sample or the median", "[gate]") {
  std::string all;
  for (const char* file : {"criterion", "google-benchmark-repetitions.json", "hyperfine.json",
                           "nvbench.json", "plain.csv", "pytest-benchmark.json"})
    for (const bool by_median : {false, true})
      all += fmt::format("{}{}\n", file, by_median ? ", by median" : "") +
             text_of(read_run_metrics(tool_files / file, by_median));
  check_golden(tests / "golden/gate_tools.txt", all);
  CHECK_THROWS_WITH(read_run_metrics(tool_files / "nvbench.json-bin"),
                    contains("is a folder without results"));
  // A run that says no date has its file's.
  const RunMetrics hyperfine = read_run_metrics(tool_files / "hyperfine.json");
  CHECK(hyperfine.date.ends_with("Z"));
  // Files of two tools are of different programs; a date in one is the run's.
  const RunMetrics pytest = read_run_metrics(tool_files / "pytest-benchmark.json");
  CHECK(pytest.date == "2026-11-24T16:48:10Z");
  CHECK(std::ranges::count(differences_of(hyperfine, pytest),
                           "program: hyperfine and pytest-benchmark", &Difference::words) == 1);
  CHECK(identity_key(hyperfine) != identity_key(pytest));
}

TEST_CASE("Every file of the corpus is decided on or refused in one sentence", "[gate]") {
  std::vector<fs::path> files(fs::directory_iterator(corpus), {});
  std::ranges::sort(files);
  std::string all;
  for (const fs::path& file : files) {
    const std::string text = file_text(file);
    fuzz(text, false);  // aborts where that is not so
    if (text.size() > 1) fuzz(std::string_view(text).substr(1), true);
    all += file.filename().string() + "\n" + outcome_of(text);
  }
  check_golden(tests / "golden/gate_corpus.txt", all);
}

TEST_CASE("Figures about other rows, bad values, dates and samples: what is read of each",
          "[gate]") {
  const std::string sort =
      R"({"name": "Sort", "real_time": 10}, {"name": "Sort", "real_time": 12})";
  const auto figure = [](const std::string& word) {
    return R"(, {"name": "Sort_)" + word + R"(", "run_name": "Sort", "run_type": "aggregate",
        "aggregate_name": ")" +
           word + R"(", "real_time": 10.5})";
  };
  const std::string figures = figure("mean") + figure("median") + figure("stddev") + figure("BigO");
  std::vector<std::string> texts{
      google(sort + figures),
      google(figures.substr(1)),  // of --benchmark_report_aggregates_only
      google(sort + R"(, {"name": "Sort", "real_time": 1e308})"),
      // A clock that no GPU has is not known. A count of zero is a value, a time is not.
      own_file("s", "1", "1.98e9"), own_file("s", "1", "1e308"), own_file("errors", "0"),
      // nvbench's states on two GPUs and on the CPU.
      file_text(tool_files / "nvbench-devices.json"),
      R"({"results": [{"command": "a", "times": [1, "x"]}]})",
      R"({"results": [{"command": "a", "times": [1, 1e-300]}]})", R"({"results": {}})",
      R"({"machine_info": {}, "benchmarks": [], "datetime": "yesterday"})",
      R"({"devices": [], "benchmarks": [{"name": "b", "states": [{"axis_values": null,
          "summaries": [{"tag": "nv/cold/time/gpu/mean",
                         "data": [{"name": "value", "value": "soon"}]}]}]}]})",
      "", "{\"context\": {}}"};
  for (const char* value : {"1e-15", "-1e308", "1e-300", "-1e-300", "-5e-9"})
    texts.push_back(own_file("s", value));
  for (const char* unit : {"s", "B/s", "FLOP/s"})
    for (const char* value : {"0", "1e-9"}) texts.push_back(own_file(unit, value));
  const std::string row = R"({"name": "a", "real_time": 1})";
  // Old versions name no zone.
  for (const std::string date : {"2026-01-01T00:30:00+01:00", "2026-11-21 14:00:00",
                                 "2015/03/17-18:40:25", "", "2026-02-30T00:00:00Z"})
    texts.push_back(google(row, "\"date\": \"" + date + "\""));
  for (const char* date : {"", "2026-02-30T00:00:00Z"})
    texts.push_back(own_file("s", "1", "null", date));
  const std::string head = "name,unit,better,sample\n";
  for (const std::string line :
       {"\"a\"\"b\",MB,lower,2,,4\r\n\n", "t,s,lower,0\n", "t,s,lower,,\n", "t,s,bigger,1",
        "t,s,lower", "t,s,lower,1\nt,s,higher,1", "t,s,lower,1\nt,s,lower,2", "\n", "\"t,s,lower,1",
        "\"t\"x,s,lower,1", ",s,lower,1"})
    texts.push_back("\xef\xbb\xbf" + head + line);
  for (const std::string sample : {"nan", "-inf", "1e999", "1e300", "1e-300", "1 2", "0x1"})
    texts.push_back(head + "t,ms,lower,1," + sample);
  texts.push_back("name,unit,better,value,low\nt,s,lower,1,2");
  check_golden(tests / "golden/gate_texts.txt", outcomes_of(texts));
}

TEST_CASE("nvbench's means are taken where its sample files are not there", "[gate]") {
  const RunMetrics run = read_run_metrics(tool_files / "nvbench.json");
  const TestFolder copied;
  const fs::path file = copied.path() / "nvbench.json";
  fs::copy_file(tool_files / "nvbench.json", file);
  const RunMetrics mean = read_run_metrics(file);
  CHECK(mean.metrics.at(0).value == Approx(3e-3));
  REQUIRE(differences_of(run, mean).size() == 1);
  CHECK(differences_of(run, mean)[0].words() == "statistic: median of samples and mean");
  const std::string not_numbers("\0\0\xc0\x7f\0\0\xc0\x7f\0\0\xc0\x7f", 12);
  for (const auto& [bytes, said] :
       {std::pair<std::string, const char*>{"12345678", "holds 8 bytes, and "},
        {not_numbers, "copy/BlockSize=128"}}) {
    for (const char* name : {"0.bin", "1.bin"})
      copied.write(std::string("nvbench.json-bin/") + name, bytes);
    CHECK_THROWS_WITH(read_run_metrics(file), contains(said));
  }
}

TEST_CASE("A host whose clock may move is another one than it is without", "[gate]") {
  for (const auto& [said, kept] : {std::pair{"", ""},
                                   {R"(, "cpu_scaling_enabled": true)", "true"},
                                   {R"(, "cpu_scaling_enabled": false)", "false"}}) {
    const std::string context = R"({"context": {"host_name": "host")" + std::string(said);
    const RunMetrics run = parse_run_metrics(context + R"(}, "benchmarks": []})", "input");
    CHECK(fact_of(run, "cpu_scaling_enabled") == kept);
    // Old files do not say it, and are then of the host that they always were of.
    RunMetrics old = run;
    std::erase_if(old.identity, [](const auto& fact) { return fact.first[0] == 'c'; });
    CHECK((identity_key(old) == identity_key(run)) == (*said == 0));
    CHECK(differences_of(old, run).empty() == (*said == 0));
  }
}

TEST_CASE("The environment can name the machine, and a byte order mark is passed over", "[gate]") {
  Environment environment;
  environment.set("FATHOM_MACHINE", "runner 7");
  const RunMetrics run = parse_run_metrics("\xEF\xBB\xBF" + google(""), "input");
  CHECK(fact_of(run, "host_name") == "runner 7");
}

TEST_CASE("Rules are read, and need their reason", "[gate]") {
  const Rules rules = parse_rules(
      "\xEF\xBB\xBF[[metric]]\nname = \"größe~7E*\"\nthreshold = 0.03\nreason = 'später ~ 10 %' # "
      "é\n"
      "[[metric]]\nname = \"*\"\nignore = true\nreason = \"later\"\n",
      "rules.toml");
  REQUIRE(rules.size() == 2);
  REQUIRE(find_rule(rules, "größe~7E"));
  CHECK(find_rule(rules, "größe~7E")->threshold == 0.03);
  CHECK(rules[0].reason == "später ~ 10 %");
  CHECK(find_rule(rules, "other")->ignore);
  CHECK(!find_rule({}, "other"));

  const std::string rule = "[[metric]]\nname = \"a\"\n", reason = "\nreason = \"b\"\n";
  for (const auto& [text, said] : std::map<std::string, std::string>{
           {rule + "ignore = true\n", "line 1: `reason` is not as expected"},
           {rule + "ignore = true\nreason = \" \"\n", "line 4"},
           {rule + reason, "either `threshold`, a number above 0"},
           {rule + "treshold = 1\n", "`treshold` is not as expected"},
           {rule + "threshold = 1.0" + reason, "line 3: `threshold` is not as expected"},
           {rule + "threshold = nan" + reason, "above 0"},
           {"metric = 3\n", "[[metric]]"},
           {"[[metric]]\nгод = 1\n", "line 2: is not TOML"},
           {"[[metric]]\n~41 = 1\n", "is not TOML"},
           {"[[metric]]\nname = \"\xff\"\n", "is not UTF-8"}}) {
    CAPTURE(text);
    const Refusal refused = refusal_of([&] { parse_rules(text, "rules.toml"); });
    CHECK(refused.code == ExitCode::bad_input);
    CHECK_THAT(refused.text, contains(said));
  }
}
