#include "gate/rules.h"
#include "gate/run_metrics.h"
#include "tests/fuzz/gate_fuzz.h"
#include "tests/testing.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::gate;
namespace fs = std::filesystem;

namespace {

const fs::path corpus = fs::path(FATHOM_SOURCE_DIR) / "tests/fuzz/corpus";

std::string said_of(const std::string& text) {
  return refusal_of([&] { parse_run_metrics(text, "input"); }).text;
}

std::string rules_refusal(const std::string& text) {
  const Refusal refused = refusal_of([&] { parse_rules(text, "rules.toml"); });
  CHECK((refused.text.empty() || refused.code == ExitCode::bad_input));
  return refused.text;
}

std::string google_rows(const std::string& rows) {
  return R"({"context": {"host_name": "host", "num_cpus": 8}, "benchmarks": [)" + rows + "]}";
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

TEST_CASE("A result document gives metrics, clocks, ratios and what else went on", "[gate]") {
  const RunMetrics run = read_run_metrics(corpus / "fathom.json");
  CHECK((run.fathom && !run.replay));
  CHECK(run.suite == "default");
  std::size_t clocks = 0, ratios = 0;
  for (const MetricValue& m : run.metrics) {
    CHECK(m.problem.empty());
    clocks += m.state.sm_clock_hz == 1.98e9;
    ratios += m.name.find(" vs ") != m.name.npos && m.unit == "x" && m.better == Better::higher;
  }
  CHECK((clocks > 0 && ratios > 0));
  CHECK_FALSE(run.other_processes);
  CHECK_FALSE(run.unsteadiness);  // of four entries alone, the fifth has none
  const RunMetrics busy = read_run_metrics(corpus / "fathom_processes.json");
  CHECK(busy.other_processes == 1e308);
  CHECK(busy.unsteadiness == 0.5);
}

TEST_CASE("Google Benchmark's files are read: repetitions, aggregates, errors", "[gate]") {
  const std::string by_the_tool = "/tests/data/gate/google-benchmark-repetitions.json";
  CHECK(read_run_metrics(FATHOM_SOURCE_DIR + by_the_tool).metrics.size() == 2);
  const RunMetrics run = read_run_metrics(corpus / "google_benchmark.json");
  CHECK(!run.fathom);
  REQUIRE(run.metrics.size() == 3);
  CHECK(run.metrics[0].name == "BM_Sort/1024");
  CHECK(run.metrics[0].value == Approx(1500.5e-6));
  CHECK(run.metrics[1].value == Approx(3.5e-3));
  CHECK(run.metrics[2].problem == "it failed: no file");
}

TEST_CASE("Figures about other rows are no metrics, however old the file is", "[gate]") {
  const auto read = [](const std::string& rows) {
    return parse_run_metrics(google_rows(rows), "input");
  };
  const auto names = [&](const std::string& rows) {
    std::vector<std::string> found;
    for (const MetricValue& metric : read(rows).metrics) found.push_back(metric.name);
    return found;
  };
  using Names = std::vector<std::string>;
  const std::string sort =
      R"({"name": "Sort", "real_time": 10}, {"name": "Sort", "real_time": 12}, )";
  const std::string figures =
      R"({"name": "Sort_mean", "real_time": 11}, {"name": "Sort_median", "real_time": 10.5},
         {"name": "Sort_stddev", "real_time": 1}, {"name": "Sort_cv", "real_time": 0.1})";
  CHECK(names(sort + figures) == Names{"Sort"});
  CHECK(read(sort + figures).metrics[0].value == Approx(10e-9));
  // With --benchmark_report_aggregates_only the median stands for all, and the fastest of samples
  // is not compared with it.
  CHECK(names(figures) == Names{"Sort"});
  CHECK(read(figures).metrics[0].value == Approx(10.5e-9));
  CHECK(differences_of(read(sort + figures), read(figures))[0].words() ==
        "statistic: fastest sample and median");
  CHECK(names(R"({"name": "Sort_cv", "aggregate_name": "cv", "real_time": 1})").empty());
  CHECK(names(sort + R"({"name": "Sort_BigO", "real_coefficient": 2, "big_o": "N"},
                        {"name": "Sort_RMS", "rms": 0.01})") == Names{"Sort"});
  // A benchmark may be called so, where the file says what a row is.
  CHECK(names(sort + R"({"name": "Sort_mean", "run_type": "iteration", "real_time": 5})") ==
        Names{"Sort", "Sort_mean"});
}

TEST_CASE("The environment can name the machine, and a byte order mark is passed over", "[gate]") {
  const std::string marked = "\xEF\xBB\xBF" + google_rows("");
  CHECK(parse_run_metrics(marked, "input").identity.front().second == "host");
  Environment environment;
  environment.set("FATHOM_MACHINE", "runner 7");
  CHECK(parse_run_metrics(marked, "input").identity.front().second == "runner 7");
}

TEST_CASE("A value that no measurement has is refused, and says of what", "[gate]") {
  const std::string sort = R"({"name": "Sort", "real_time": 10}, )";
  CHECK_THAT(said_of(google_rows(sort + sort + R"({"name": "Sort", "real_time": 1e308})")),
             contains("/benchmarks/2/real_time has a value of \"Sort\" that is larger than any"));
  CHECK(!said_of(file_text(corpus / "large_number.json")).empty());
  for (const auto& [value, said] : {std::pair{"1", ""},
                                    {"1e-15", ""},
                                    {"0", ""},  // a value that is none, and says so
                                    {"-1e308", "larger"},
                                    {"1e-300", "smaller"},
                                    {"-1e-300", "smaller"}})
    CHECK(said_of(own_file("s", value)) ==
          (*said == 0
               ? ""
               : fmt::format("input: the document has a value of \"a/b\" that is {} than any "
                             "measurement's.",
                             said)));
  // A clock that no GPU has is not known.
  const auto clock_of = [](const char* clock) {
    return parse_run_metrics(own_file("s", "1", clock), "input").metrics[0].state.sm_clock_hz;
  };
  CHECK(clock_of("1.98e9") == 1.98e9);
  CHECK_FALSE(clock_of("1e308"));
}

TEST_CASE("Dates are in the calendar, and of years that clocks show", "[gate]") {
  const auto google = [](const std::string& date) {
    return "{\"context\": {\"date\": \"" + date +
           "\"}, \"benchmarks\": [{\"name\": \"a\", \"real_time\": 1}]}";
  };
  // Old versions name no zone.
  for (const auto& [date, utc] : {std::pair{"2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"},
                                  {"2026-11-21T14:00:00Z", "2026-11-21T14:00:00Z"},
                                  {"2026-11-21 14:00:00", "2026-11-21T14:00:00Z"},
                                  {"2015/03/17-18:40:25", "2015-03-17T18:40:25Z"}})
    CHECK(parse_run_metrics(google(date), "input").date == utc);
  CHECK(parse_run_metrics(google_rows(R"({"name": "a", "real_time": 1})"), "input").date.empty());
  for (const std::string date : {"", "2026-02-30T00:00:00Z"}) {
    CAPTURE(date);
    CHECK_THAT(said_of(google(date)),
               contains("/context/date is \"" + date + "\"; expected: a time in UTC"));
    CHECK_THAT(said_of(own_file("s", "1", "null", date)),
               contains("/date is \"" + date + "\"; expected:"));
  }
}

TEST_CASE("A time or rate of zero is no improvement, a count of zero is a value", "[gate]") {
  const auto problem_of = [](const char* unit, const char* value) {
    return parse_run_metrics(own_file(unit, value), "input").metrics[0].problem;
  };
  CHECK(problem_of("s", "-5e-9").find("its value is -5 ns") == 0);
  for (const char* unit : {"s", "B/s", "FLOP/s"}) {
    CHECK_FALSE(problem_of(unit, "0").empty());
    CHECK(problem_of(unit, "1e-9").empty());
  }
  CHECK(problem_of("errors", "0").empty());
}

TEST_CASE("Every file of the corpus is decided on or refused in one sentence", "[gate]") {
  std::size_t files = 0;
  for (const auto& file : fs::directory_iterator(corpus)) {
    const std::string text = file_text(file.path());
    fuzz(text, false);  // aborts where that is not so
    if (text.size() > 1) fuzz(std::string_view(text).substr(1), true);
    ++files;
  }
  CHECK(files >= 24);
}

TEST_CASE("Refusals say where and what", "[gate]") {
  for (const auto& [file, said] :
       std::map<std::string, std::string>{{"nan.json", "line 1, column"},
                                          {"twice.json", "/context has the key \"num_cpus\" twice"},
                                          {"deep.json", "line 1, column 100001"},
                                          {"wrong_type.json", "/benchmarks is a number"},
                                          {"baseline_twice.json", "two metrics named \"a/b\""},
                                          {"long_path.json", "line 2, column 1"}}) {
    CAPTURE(file);
    const std::string refusal = said_of(file_text(corpus / file));
    CHECK_THAT(refusal, contains(said));
    CHECK(refusal.size() < 300);
  }
  CHECK_THAT(said_of(""), contains("is empty"));
  CHECK_THAT(said_of("{\"context\": {}}"), contains("has no \"benchmarks\""));
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
           {rule + "threshold = 3" + reason, "line 3: `threshold` is not as expected"},
           {rule + "threshold = 1.0" + reason, "for 3 % write 0.03"},
           {rule + "threshold = nan" + reason, "above 0"},
           {"metric = 3\n", "[[metric]]"},
           {"[[metric\n", "is not TOML"},
           {"[[metric]]\nгод = 1\n", "line 2: is not TOML"},
           {"[[metric]]\n~41 = 1\n", "is not TOML"},
           {"[[metric]]\nname = \"\xff\"\n", "is not UTF-8"}}) {
    CAPTURE(text);
    CHECK_THAT(rules_refusal(text), contains(said));
  }
}
