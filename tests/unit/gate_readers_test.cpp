// Files of other benchmark tools. Those under tests/data/gate were written by the tools themselves
// (hyperfine 1.15, pytest-benchmark 5.3, Google Benchmark 1.7, Criterion 0.3; hosts and CPU flags
// are edited), but for nvbench's, which is written after its documented format.

#include "gate/run_metrics.h"
#include "tests/testing.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::gate;
namespace fs = std::filesystem;

namespace {

const fs::path tool_files = fs::path(FATHOM_SOURCE_DIR) / "tests/data/gate";

std::map<std::string, MetricValue> metrics_of(const RunMetrics& run) {
  std::map<std::string, MetricValue> metrics;
  for (const MetricValue& metric : run.metrics) metrics[metric.name] = metric;
  REQUIRE(metrics.size() == run.metrics.size());
  return metrics;
}

/// What refuses the text, which must be one of the codes of bad input.
std::string reader_refusal(const std::string& text) {
  const Refusal refused = refusal_of([&] { parse_run_metrics(text, "input"); });
  CHECK((refused.text.empty() || refused.code == ExitCode::document_malformed));
  return refused.text;
}

}  // namespace

TEST_CASE("hyperfine's file gives the fastest of each command's times", "[gate]") {
  const RunMetrics run = read_run_metrics(tool_files / "hyperfine.json");
  const auto metrics = metrics_of(run);
  CHECK(metrics.size() == 2);
  const MetricValue& metric = metrics.at("seq to 100000");
  CHECK(metric.value == Approx(0.001404025));  // as hyperfine's own "min"
  CHECK(fact_of(run, "statistic") == "fastest sample");
  CHECK(metric.unit == "s");
  CHECK(metric.better == Better::lower);
  CHECK(metric.elapsed_s == Approx(12 * 0.0014815939));
  CHECK(fact_of(run, "program") == "hyperfine");
  CHECK(!run.fathom);
  CHECK(run.date.ends_with("Z"));  // the file's own
}

TEST_CASE("pytest-benchmark's file gives fastest times, machine and date", "[gate]") {
  const RunMetrics run = read_run_metrics(tool_files / "pytest-benchmark.json");
  const auto metrics = metrics_of(run);
  CHECK(metrics.size() == 3);
  CHECK(metrics.at("test_b.py::test_compress[1]").value == Approx(1.0005001968e-05));
  CHECK(metrics.at("test_b.py::test_compress[1]").elapsed_s == Approx(0.000185153993));
  CHECK(run.date == "2026-11-24T16:48:10Z");
  CHECK(fact_of(run, "host_name") == "bench-host");
  CHECK(fact_of(run, "num_cpus") == "2");
  // Files of two tools are of different programs.
  const RunMetrics hyperfine = read_run_metrics(tool_files / "hyperfine.json");
  const auto differences = differences_of(hyperfine, run);
  CHECK(std::ranges::count(differences, "program: hyperfine and pytest-benchmark",
                           &Difference::words) == 1);

  CHECK(identity_key(hyperfine) != identity_key(run));
  setenv("FATHOM_MACHINE", "rack 7", 1);
  CHECK(fact_of(read_run_metrics(tool_files / "pytest-benchmark.json"), "host_name") == "rack 7");
  unsetenv("FATHOM_MACHINE");
}

TEST_CASE("nvbench's sample files give medians, and without them its means are taken", "[gate]") {
  const RunMetrics run = read_run_metrics(tool_files / "nvbench.json");
  auto metrics = metrics_of(run);
  CHECK(metrics.size() == 3);
  CHECK(metrics.at("copy/BlockSize=128").value == Approx(2e-3));
  CHECK(metrics.at("copy/BlockSize=256").value == Approx(1.1e-4));
  CHECK_THAT(metrics.at("copy").problem, contains("too big"));
  CHECK(fact_of(run, "gpu_name") == "NVIDIA H200");
  CHECK(fact_of(run, "statistic") == "median of samples");

  const TestFolder copied;
  const fs::path file = copied.path() / "nvbench.json";
  fs::copy_file(tool_files / "nvbench.json", file);
  const auto write_samples = [&](const std::string& bytes) {
    for (const char* name : {"0.bin", "1.bin"})
      copied.write(std::string("nvbench.json-bin/") + name, bytes);
  };
  const RunMetrics mean = read_run_metrics(file);
  metrics = metrics_of(mean);
  CHECK(metrics.at("copy/BlockSize=128").value == Approx(3e-3));
  REQUIRE(differences_of(run, mean).size() == 1);
  CHECK(differences_of(run, mean)[0].words() == "statistic: median of samples and mean");
  write_samples("12345678");
  CHECK_THROWS_WITH(read_run_metrics(file), contains("8 bytes") && contains("3 samples"));
  write_samples(std::string("\0\0\xc0\x7f\0\0\xc0\x7f\0\0\xc0\x7f", 12));  // NaN
  CHECK_THROWS_WITH(read_run_metrics(file), contains("copy/BlockSize=128"));
}

TEST_CASE("nvbench's states on two GPUs and on the CPU have names of their own", "[gate]") {
  const std::string mean = R"("data": [{"name": "value", "type": "float64", "value": "0.5"}]})";
  const std::string gpu = R"("summaries": [{"tag": "nv/cold/time/gpu/mean", )" + mean + "]}";
  const RunMetrics run = parse_run_metrics(
      R"({"devices": [{"id": 0, "name": "A"}, {"id": 1, "name": "B"}, {"id": 2, "name": "C"}],
          "benchmarks": [{"name": "b", "states": [
            {"device": 0, "axis_values": null, )" +
          gpu + R"(, {"device": 1, "axis_values": [], )" + gpu +
          R"(, {"device": null, "axis_values": null, )"
          R"("summaries": [{"tag": "nv/cpu_only/time/cpu/mean", )" +
          mean + "]}]}]}",
      "input");
  const auto metrics = metrics_of(run);
  CHECK(metrics.size() == 3);
  for (const char* name : {"b/Device=0", "b/Device=1", "b"}) {
    CAPTURE(name);
    REQUIRE(metrics.contains(name));
    CHECK(metrics.at(name).value == 0.5);
    CHECK(metrics.at(name).problem.empty());
  }
  CHECK(fact_of(run, "gpu_name") == "A, B");
}

TEST_CASE("Criterion's folder gives each benchmark's newest median", "[gate]") {
  const RunMetrics run = read_run_metrics(tool_files / "criterion");
  const auto metrics = metrics_of(run);
  CHECK(metrics.size() == 2);
  CHECK(metrics.at("sum/loop/100").value == Approx(27.712214043443744 * 1e-9));
  CHECK(fact_of(run, "program") == "criterion");
  CHECK_THROWS_WITH(read_run_metrics(tool_files / "nvbench.json-bin"),
                    contains("is a folder without results"));
}

TEST_CASE(
    "Where they are asked for, intervals come from samples, or from what the tool says of them",
    "[gate]") {
  const auto intervals_of = [](const char* file) {
    return read_run_metrics(tool_files / file, true).intervals.value();
  };
  CHECK_FALSE(read_run_metrics(tool_files / "hyperfine.json").intervals);
  const auto hyperfine = intervals_of("hyperfine.json");
  REQUIRE(hyperfine.size() == 2);
  CHECK(hyperfine.front()->low == Approx(0.001426999));
  CHECK(hyperfine.front()->confidence > 0.95);
  const auto pytest = intervals_of("pytest-benchmark.json");  // 1.57 times 1.144e-6 s over sqrt(11)
  CHECK(pytest.front()->high - pytest.front()->low == Approx(2 * 5.4165e-7).epsilon(1e-3));
  CHECK(intervals_of("criterion").front()->low == Approx(27.569581e-9));
  CHECK(intervals_of("nvbench.json").size() == 3);
  CHECK(intervals_of("plain.csv").front()->confidence == 0.75);  // of three samples, their range
}

TEST_CASE("A CSV says unit and direction, and its samples become one median", "[gate]") {
  const auto metrics = metrics_of(read_run_metrics(tool_files / "plain.csv"));
  CHECK(metrics.size() == 2);
  CHECK(metrics.at("latency").value == Approx(1.25e-3));
  CHECK(metrics.at("latency").unit == "s");
  CHECK(metrics.at("rows, sorted").value == Approx(5.05e6));
  CHECK(metrics.at("rows, sorted").better == Better::higher);

  const std::string head = "name,unit,better,sample\n";
  const auto one =
      metrics_of(parse_run_metrics("\xef\xbb\xbf" + head + "\"a\"\"b\",MB,lower,2,,4\r\n\n", ""));
  CHECK(one.at("a\"b").value == 3);
  CHECK_THAT(metrics_of(parse_run_metrics(head + "t,s,lower,0\n", "")).at("t").problem,
             contains("value is 0"));
  CHECK(metrics_of(parse_run_metrics(head + "t,s,lower,,\n", "")).at("t").problem ==
        "it has no value");
  for (const std::string sample :
       {"nan", "inf", "-inf", "1e999", "1e300", "1e-300", "x", "1 2", "0x1"}) {
    CAPTURE(sample);
    CHECK_THAT(reader_refusal(head + "t,ms,lower,1," + sample),
               contains("has the sample") || contains("than any measurement's"));
  }
  for (const auto& [text, said] : std::map<std::string, std::string>{
           {head + "t,s,bigger,1", "line 2 says neither"},
           {head + "t,s,lower", "line 2 has no sample"},
           {head + "t,s,lower,1\nt,s,higher,1", "\"t\" again"},
           {head + "t,s,lower,1\nt,s,lower,2", "line 3 has \"t\" again"},
           {head + "\n", "a header without a metric"},
           {"", "a CSV that begins \"name,unit,better,sample\""},
           {head + "\"t,s,lower,1", "quote that nothing closes"},
           {head + "\"t\"x,s,lower,1", "after a closing quote"},
           {"name,unit,better,value,low\nt,s,lower,1,2", "header of a result"},
           {head + ",s,lower,1", "name of 0 characters"}}) {
    CAPTURE(text);
    CHECK_THAT(reader_refusal(text), contains(said));
  }
}

TEST_CASE("What is wrong in another tool's file is refused in its place", "[gate]") {
  CHECK_THAT(reader_refusal(R"({"results": [{"command": "a", "times": [1, "x"]}]})"),
             contains("/results/0/times/1 is a string"));
  CHECK_THAT(reader_refusal(R"({"results": [{"command": "a", "times": [1, 1e-300]}]})"),
             contains("smaller than any measurement's"));
  CHECK_THAT(reader_refusal(R"({"results": {}})"), contains("expected: an array"));
  CHECK_THAT(reader_refusal(R"({"machine_info": {}, "benchmarks": [], "datetime": "yesterday"})"),
             contains("a time in UTC"));
  CHECK_THAT(reader_refusal(R"({"devices": [], "benchmarks": [{"name": "b", "states": [
      {"axis_values": null, "summaries": [{"tag": "nv/cold/time/gpu/mean",
       "data": [{"name": "value", "value": "soon"}]}]}]}]})"),
             contains("is \"soon\"; expected: a number"));
  const auto killed = metrics_of(parse_run_metrics(
      R"({"results": [{"command": "a", "times": [1], "exit_codes": [null]}]})", ""));
  CHECK_THAT(killed.at("a").problem, contains("signal"));
}
