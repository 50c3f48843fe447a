#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "gate/baseline.h"
#include "gate/history.h"
#include "results/text.h"
#include "tests/testing.h"
#include "tests/unit/in_processes.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::gate;
namespace fs = std::filesystem;

namespace {

RunMetrics planted_run(int number, double value = 1) {
  RunMetrics run{.origin = "run"};
  run.date = "2026-01-01T00:00:" + std::to_string(10 + number) + "Z";
  run.identity = {{"host_name", "a host"}};
  for (const char* name : {"first", "second"})
    run.metrics.push_back({.name = name, .unit = "s", .value = value});
  run.metrics[0].state = {1.98e9, std::nullopt, 700.5, {"sw_power_cap"}};
  run.metrics[1].elapsed_s = 0.1;
  run.elapsed_s = 13.5 + 0.1;
  return run;
}

}  // namespace

TEST_CASE("What goes into a baseline comes out again", "[gate]") {
  const TestFolder folder;
  const BaselineFolder baseline(folder.path() / "made" / "on" / "demand");
  CHECK(baseline.groups().empty());
  const RunMetrics run = planted_run(1, 0.1 + 0.2);
  // The same once more is no second run.
  for (const RunMetrics& added : {run, run, planted_run(2)}) baseline.add(added);
  const auto runs = baseline.runs_like(run);
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].metrics == run.metrics);  // every digit
  CHECK(runs[0].identity == run.identity);
  CHECK(runs[0].elapsed_s == run.elapsed_s);
  CHECK(runs[0].date < runs[1].date);
  RunMetrics other = run;
  other.identity[0].second = "another host";
  CHECK(baseline.runs_like(other).empty());
  baseline.add(other);
  CHECK(baseline.groups().size() == 2);
}

TEST_CASE("Ratios to opponents are compared across machines of one model", "[gate]") {
  const TestFolder folder;
  const BaselineFolder baseline(folder.path());
  const auto run_on = [](const std::string& machine, const std::string& model, int number) {
    RunMetrics run = planted_run(number);
    run.fathom = true;
    run.identity = {{"gpu_name", model}, {"gpu_uuid_hash", machine}, {"toolkit", "13.0"}};
    run.metrics[1].name = "first vs cuBLAS";
    run.metrics[1].unit = "x";
    return run;
  };
  for (int i = 0; i < 5; ++i) baseline.add(run_on(i % 2 == 0 ? "one" : "two", "NVIDIA H200", i));
  baseline.add(run_on("three", "NVIDIA H100", 9));
  const RunMetrics head = run_on("four", "NVIDIA H200", 10);
  CHECK(baseline.runs_like(head).empty());
  const auto runs = baseline.ratios_like(head);
  REQUIRE(runs.size() == 5);
  CHECK(std::ranges::is_sorted(runs, {}, &RunMetrics::date));
  CHECK(runs[0].metrics.size() == 1);
  CHECK(runs[0].metrics.at(0).name == "first vs cuBLAS");
}

TEST_CASE("A baseline takes no replay, and nothing without a value or date", "[gate]") {
  const TestFolder folder;
  RunMetrics replay = planted_run(1), failed = replay, undated = replay;
  replay.replay = true;
  for (MetricValue& metric : failed.metrics) metric.problem = "it failed";
  undated.date.clear();
  for (const RunMetrics& run : {replay, failed, undated})
    CHECK_THROWS_AS(BaselineFolder(folder.path()).add(run), Error);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("Jobs that add at the same time lose nothing", "[gate]") {
  const TestFolder folder;
  constexpr int jobs = 8, each = 10;
  in_processes(jobs, [&](int job) {
    // All at one date; every second run is one that another job adds as well.
    for (int i = 0; i < each; ++i)
      BaselineFolder(folder.path()).add(planted_run(1, i % 2 == 0 ? 1000 + i : 1 + job * each + i));
  });
  std::set<double> values;
  for (const RunMetrics& run : BaselineFolder(folder.path()).runs_like(planted_run(1)))
    values.insert(run.metrics[0].value);
  CHECK(values.size() == jobs * each / 2 + each / 2);
}

TEST_CASE("An add that is killed while it writes leaves the folder readable", "[gate]") {
  const TestFolder folder;
  const BaselineFolder baseline(folder.path());
  const fs::path file = baseline.add(planted_run(1));
  const pid_t child = fork();
  if (child == 0) {
    // The kernel kills whoever writes beyond this.
    signal(SIGXFSZ, SIG_DFL);
    const rlimit half{fs::file_size(file) / 2, fs::file_size(file) / 2}, no_core{0, 0};
    if (setrlimit(RLIMIT_CORE, &no_core) == 0 && setrlimit(RLIMIT_FSIZE, &half) == 0)
      baseline.add(planted_run(2));
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGXFSZ);
  // Half of the second run is there, under a name that nobody reads.
  CHECK(std::ranges::count_if(fs::directory_iterator(file.parent_path()), [](const auto& entry) {
          return entry.path().extension() == ".tmp" && entry.file_size() > 0;
        }) == 1);
  CHECK(baseline.runs_like(planted_run(1)).size() == 1);
  baseline.add(planted_run(2));
  CHECK(baseline.runs_like(planted_run(1)).size() == 2);
}

TEST_CASE("A file that is no run blocks what decides, and nothing else", "[gate]") {
  const TestFolder folder;
  const BaselineFolder baseline(folder.path());
  for (int i = 0; i < 3; ++i) baseline.add(planted_run(i, i + 1));
  const fs::path group = baseline.groups().begin()->first,
                 torn = group / "9999-0123456789abcdef.json";
  std::ofstream(torn) << "{\"fathom_baseline\": 1, \"met";
  CHECK_THROWS_WITH(baseline.runs_like(planted_run(1)),
                    contains("9999-0123456789abcdef.json") &&
                        contains("`fathom baseline prune --baseline " + folder.path().string() +
                                 "` removes such"));
  CHECK(baseline.newest_of_each().at(0).metrics[0].value == 3);
  // What prune may not judge: one of another version, and one that `add` did not make.
  const fs::path later = group / "9999-fedcba9876543210.json", foreign = group / "package.json";
  std::ofstream(later) << "{\"fathom_baseline\": 99}";
  std::ofstream(foreign) << "{}";
  const auto pruned = baseline.prune({.keep = 5});
  CHECK(pruned.gone == std::vector<fs::path>{torn});
  CHECK(pruned.unreadable.size() == 3);
  for (const fs::path& other : {later, foreign}) CHECK(fs::remove(other));
  CHECK(baseline.runs_like(planted_run(1)).size() == 3);
}

TEST_CASE("The file that the documentation shows is one of a baseline", "[gate]") {
  const std::string page = file_text(FATHOM_SOURCE_DIR "/docs/gate/method.md");
  const auto start = page.find("{\n\"fathom_baseline\"");
  REQUIRE(start != std::string::npos);
  const std::string text = page.substr(start, page.find("```", start) - start);
  const RunMetrics run = parse_run_metrics(text, "page");
  REQUIRE(run.metrics.size() == 2);
  CHECK((run.metrics[0].elapsed_s > 0 && run.metrics[1].elapsed_s == 0));
  // As it would be written: of the present version, column by column.
  CHECK(baseline_text(run) == text);
}

TEST_CASE("Pruning keeps the newest, or what is young enough, and removes no result", "[gate]") {
  const TestFolder folder;
  const BaselineFolder baseline(folder / "kept");
  for (int i = 0; i < 9; ++i) baseline.add(planted_run(i, i + 1));
  CHECK(baseline.prune({.keep = 6, .dry_run = true}).gone.size() == 3);
  CHECK(baseline.prune({.keep = 6}).gone.size() == 3);
  const auto runs = baseline.runs_like(planted_run(0));
  REQUIRE(runs.size() == 6);
  CHECK(runs.front().metrics[0].value == 4);
  CHECK(baseline.prune({.older_than = runs[2].date}).gone.size() == 2);
  // A folder that is no baseline, but of a job's results.
  for (int i = 0; i < 3; ++i)
    folder.write("results/of one commit/result-" + std::to_string(i) + ".json",
                 file_text(baseline.add(planted_run(i))));
  const BaselineFolder mistaken(folder / "results");
  CHECK(mistaken.prune({.keep = 1, .older_than = "2027"}).gone.empty());
  CHECK(mistaken.groups().begin()->second.size() == 3);
}

TEST_CASE("History says what changed with a step, and nothing of too few runs", "[gate]") {
  std::vector<RunMetrics> runs;
  for (int i = 0; i < 20; ++i) {
    runs.push_back(planted_run(i, 1 + 0.0005 * (i % 3)));
    runs.back().identity.emplace_back("driver", i < 12 ? "580" : "590");
    if (i >= 12) runs.back().metrics[1].value *= 1.06;
  }
  CHECK_THAT(history_text(runs), contains("worse  +6 %  step  run 13 ") && contains("  second  ") &&
                                     contains("driver: 580 and 590 (run 13)"));
  CHECK_THAT(history_text({runs.begin(), runs.begin() + 5}),
             EndsWith("5 runs of 2 metrics; change points need 6 runs\n"));
}

TEST_CASE("The history of ten thousand runs takes time in proportion", "[gate]") {
  constexpr int runs_there = 10'000, metrics = 20, step_at = 7'000, spike_at = 3'000;
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.004);
  std::vector<RunMetrics> runs(runs_there);
  for (int i = 0; i < runs_there; ++i) {
    runs[i].date = utc_time(std::chrono::system_clock::time_point(std::chrono::hours(400'000 + i)));
    runs[i].identity = {{"host_name", "a host"}};
    for (int m = 0; m < metrics; ++m) {
      MetricValue metric{.name = "metric " + std::to_string(m), .unit = "s"};
      metric.value = 1 + noise(random);
      if (m == 3 && i >= step_at) metric.value *= 1.03;
      if (m == 5 && i >= spike_at && i < spike_at + 5) metric.value *= 1.2;
      if (m == 7) metric.value *= 1 + 0.1 * i / runs_there;
      runs[i].metrics.push_back(metric);
    }
  }
  const std::clock_t begin = std::clock();
  std::vector<HistoryChange> changes;
  for (const MetricSeries& series : series_of(runs, {}))
    std::ranges::copy(changes_of(series), std::back_inserter(changes));
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  CAPTURE(seconds);
  CHECK(seconds < 3);  // of the CPU; every place against every other takes 16
  std::ranges::sort(changes, {}, [](const auto& c) { return std::pair(c.metric, c.run); });
  REQUIRE(changes.size() == 4);
  for (const auto& [i, metric, run, relative] : {std::tuple(0, "metric 3", step_at, 0.03),
                                                 {1, "metric 5", spike_at, 0.2},
                                                 {2, "metric 5", spike_at + 5, 1 / 1.2 - 1},
                                                 {3, "metric 7", 0, 0.1}}) {
    CAPTURE(i);
    CHECK(changes[i].metric == metric);
    CHECK(std::abs(static_cast<int>(changes[i].run) - run) <= 3);
    CHECK(std::abs(changes[i].relative() - relative) < 0.005);
    CHECK(changes[i].drift == (i == 3));
  }
}
