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

TEST_CASE("The file of each tool gives its metrics in seconds, and facts", "[gate]") {
  using Text = const char*;
  for (const auto& [file, size, name, value, elapsed_s, fact, said] :
       {std::tuple<Text, std::size_t, Text, double, double, Text, Text>{
            // As hyperfine's own "min".
            "hyperfine.json", 2, "seq to 100000", 0.001404025, 12 * 0.0014815939, "statistic",
            "fastest sample"},
        {"pytest-benchmark.json", 3, "test_b.py::test_compress[1]", 1.0005001968e-05,
         0.000185153993, "host_name", "bench-host"},
        {"pytest-benchmark.json", 3, "test_b.py::test_compress[1]", 1.0005001968e-05,
         0.000185153993, "num_cpus", "2"},
        {"nvbench.json", 3, "copy/BlockSize=128", 2e-3, 0, "statistic", "median of samples"},
        {"nvbench.json", 3, "copy/BlockSize=256", 1.1e-4, 0, "gpu_name", "NVIDIA H200"},
        {"criterion", 2, "sum/loop/100", 27.712214043443744e-9, 0, "program", "criterion"}}) {
    CAPTURE(file, name, fact);
    const RunMetrics run = read_run_metrics(tool_files / file);
    const auto metrics = metrics_of(run);
    CHECK(metrics.size() == size);
    CHECK(metrics.at(name).value == Approx(value));
    CHECK(metrics.at(name).unit == "s");
    CHECK(metrics.at(name).better == Better::lower);
    if (elapsed_s > 0) CHECK(metrics.at(name).elapsed_s == Approx(elapsed_s));
    CHECK(fact_of(run, fact) == said);
    CHECK(!run.fathom);
  }
  CHECK_THROWS_WITH(read_run_metrics(tool_files / "nvbench.json-bin"),
                    contains("is a folder without results"));
  // Files of two tools are of different programs; a date is the file's own.
  const RunMetrics hyperfine = read_run_metrics(tool_files / "hyperfine.json");
  const RunMetrics pytest = read_run_metrics(tool_files / "pytest-benchmark.json");
  CHECK(hyperfine.date.ends_with("Z"));
  CHECK(pytest.date == "2026-11-24T16:48:10Z");
  CHECK(std::ranges::count(differences_of(hyperfine, pytest),
                           "program: hyperfine and pytest-benchmark", &Difference::words) == 1);
  CHECK(identity_key(hyperfine) != identity_key(pytest));
  Environment environment;
  environment.set("FATHOM_MACHINE", "rack 7");
  CHECK(fact_of(read_run_metrics(tool_files / "pytest-benchmark.json"), "host_name") == "rack 7");
}

TEST_CASE("nvbench's means are taken where its sample files are not there", "[gate]") {
  const RunMetrics run = read_run_metrics(tool_files / "nvbench.json");
  CHECK_THAT(metrics_of(run).at("copy").problem, contains("too big"));
  const TestFolder copied;
  const fs::path file = copied.path() / "nvbench.json";
  fs::copy_file(tool_files / "nvbench.json", file);
  const RunMetrics mean = read_run_metrics(file);
  CHECK(metrics_of(mean).at("copy/BlockSize=128").value == Approx(3e-3));
  REQUIRE(differences_of(run, mean).size() == 1);
  CHECK(differences_of(run, mean)[0].words() == "statistic: median of samples and mean");
  const std::string not_numbers("\0\0\xc0\x7f\0\0\xc0\x7f\0\0\xc0\x7f", 12);
  for (const auto& [bytes, said] : {std::pair<std::string, const char*>{"12345678", "8 bytes"},
                                    {"12345678", "3 samples"},
                                    {not_numbers, "copy/BlockSize=128"}}) {
    for (const char* name : {"0.bin", "1.bin"})
      copied.write(std::string("nvbench.json-bin/") + name, bytes);
    CHECK_THROWS_WITH(read_run_metrics(file), contains(said));
  }
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
    CHECK(metrics.at(name).value == 0.5);
    CHECK(metrics.at(name).problem.empty());
  }
  CHECK(fact_of(run, "gpu_name") == "A, B");
}

TEST_CASE("Intervals come from samples, or from what the tool says of them", "[gate]") {
  const auto intervals_of = [](const char* file) {
    return read_run_metrics(tool_files / file, true).intervals;
  };
  CHECK(read_run_metrics(tool_files / "hyperfine.json", true).metrics[0].value ==
        Approx(0.0014718355));  // its median, of which the interval is
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
  for (const auto& [text, said] : std::map<const char*, const char*>{
           {R"({"results": [{"command": "a", "times": [1, "x"]}]})",
            "/results/0/times/1 is a string"},
           {R"({"results": [{"command": "a", "times": [1, 1e-300]}]})",
            "smaller than any measurement's"},
           {R"({"results": {}})", "expected: an array"},
           {R"({"machine_info": {}, "benchmarks": [], "datetime": "yesterday"})", "a time in UTC"},
           {R"({"devices": [], "benchmarks": [{"name": "b", "states": [
               {"axis_values": null, "summaries": [{"tag": "nv/cold/time/gpu/mean",
                "data": [{"name": "value", "value": "soon"}]}]}]}]})",
            "is \"soon\"; expected: a number"}})
    CHECK_THAT(reader_refusal(text), contains(said));
  const auto killed = metrics_of(parse_run_metrics(
      R"({"results": [{"command": "a", "times": [1], "exit_codes": [null]}]})", ""));
  CHECK_THAT(killed.at("a").problem, contains("signal"));
}
