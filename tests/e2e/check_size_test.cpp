#include "gate/baseline_folder.h"
#include "tests/e2e/sandbox.h"

using namespace fathom;

namespace {

/// A result document of so many entries, as full as the recorded ones.
Document large_document(std::size_t entries) {
  Document document = read_document(FATHOM_RECORDING_FILE);
  std::erase_if(document.entries, [](const Entry& entry) {
    return !entry.metric.value || *entry.metric.value <= 0 || entry.samples.empty();
  });
  const std::vector<Entry> recorded = std::move(document.entries);
  document.entries.clear();
  for (std::size_t i = 0; i < entries; ++i) {
    Entry entry = recorded[i % recorded.size()];
    entry.name += "/copy:" + std::to_string(i);
    entry.opponents.clear();
    document.entries.push_back(std::move(entry));
  }
  return document;
}

/// `fathom` with so much address space and no more.
CapturedRun within(int mebibytes, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"-c", "ulimit -v \"$1\" && shift && exec \"$@\"", "sh",
                                 std::to_string(mebibytes * 1024), FATHOM_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_and_capture("/bin/sh", words, 60s);
}

}  // namespace

TEST_CASE("fathom check decides on 2,000 metrics against 30 runs in 300 ms and 200 MiB") {
  Sandbox sandbox({});
  const fs::path file = sandbox.folder() / "result.json";
  const std::string baseline = (sandbox.folder() / "baseline").string();
  write_document(large_document(2000), file);
  REQUIRE(fs::file_size(file) > 10'000'000);
  std::mt19937_64 generator(1);
  std::normal_distribution<double> noise(1, 0.001);
  const gate::RunMetrics run = gate::read_run_metrics(file);
  REQUIRE(run.metrics.size() == 2000);
  for (int i = 0; i < 30; ++i) {
    gate::RunMetrics earlier = run;
    for (gate::MetricValue& metric : earlier.metrics) metric.value *= noise(generator);
    gate::BaselineFolder(baseline).add(earlier);
  }
  // The best of a few: other work on the machine costs processor time too, through the caches.
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double before = children_cpu_s();
    expect(0, sandbox.fathom({"check", file.string(), "--baseline", baseline}))
        .first_line("PASS: 2,000 metrics, no regression");
    best = std::min(best, children_cpu_s() - before);
  }
#ifdef NDEBUG
  CHECK(best < 0.3);
#else
  CHECK(best < 3);
#endif
  // The most memory that it held at once, by its own account at its end.
  const CapturedRun measured = expect(
      0, run_and_capture("/bin/sh",
                         {"-c",
                          "\"$@\" >/dev/null & child=$!; most=0; "
                          "while size=$(grep VmHWM /proc/$child/status 2>/dev/null | tr -cd 0-9) "
                          "&& [ -n \"$size\" ]; "
                          "do most=$size; done; wait $child && echo $most",
                          "sh", FATHOM_PROGRAM, "check", file.string(), "--baseline", baseline},
                         60s));
  const int most_kib = std::stoi(measured.output);
  CHECK(most_kib > 20 * 1024);
  CHECK(most_kib < 200 * 1024);
  // Where memory is short it says so.
  expect(2, within(100, {"check", file.string(), "--baseline", baseline}))
      .complains("too little memory");
}

TEST_CASE("A file of a gigabyte is refused without reading it") {
  Sandbox sandbox({});
  const fs::path file = sandbox.folder() / "huge.json";
  write_text(file, "{");
  fs::resize_file(file, std::uintmax_t{1} << 30);
  expect(2, within(100, {"check", file.string(), "--baseline", "baseline"}))
      .complains("is larger than 64 MiB")
      .one_line();
  const std::string leaves_it = "truncate -s 1G {out}";
  expect(2, within(100, {"check", "--base", leaves_it, "--head", leaves_it}))
      .complains("is larger than 64 MiB");
}

TEST_CASE("The largest file that is read costs bounded memory, whatever is in it") {
  Sandbox sandbox({});
  const fs::path file = sandbox.folder() / "large.json";
  const auto check_filled = [&](const std::string& piece, const std::string& end) {
    std::string text = "{\"context\": {}, \"benchmarks\": [";
    while (text.size() + piece.size() + end.size() <= gate::largest_result) text += piece;
    write_text(file, text + end);
    const CapturedRun refused =
        expect(2, within(1400, {"check", file.string(), "--baseline", "baseline"})).one_line();
    return refused.errors;
  };
  // The most values; cut off, which the slower parser tells; and the most metrics.
  has(check_filled("0,", "0]}"), "more than 200000 rows");
  has(check_filled("{\"a\":0},", ""), "is not JSON: parse error at line 1");
  has(check_filled("{\"name\":\"a\",\"real_time\":1},", "{}]}"), "more than 200000 rows");
}
