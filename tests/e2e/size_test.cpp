// What large input may take of time and memory.

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "gate/baseline.h"
#include "tests/e2e/sandbox.h"

using namespace fathom;

namespace {

/// A result document of so many entries, as full as the recorded ones.
Document large_document(std::size_t entries) {
  Document document = read_document(FATHOM_SOURCE_DIR "/recordings/h200/result.json");
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

/// `fathom` with these words of the shell, and with so much address space and no more.
CapturedRun within(const Sandbox& box, int mebibytes, const std::string& line) {
  return box.shell(fmt::format("ulimit -v {} && exec $F {}", mebibytes * 1024, line));
}

}  // namespace

TEST_CASE("fathom check decides on 2,000 metrics against 30 runs in 400 ms and 200 MiB") {
  Sandbox box({});
  const fs::path file = box.folder() / "result.json";
  write_document(large_document(2000), file);
  REQUIRE(fs::file_size(file) > 10'000'000);
  std::mt19937_64 generator(1);
  std::normal_distribution<double> noise(1, 0.001);
  const gate::RunMetrics run = gate::read_run_metrics(file);
  REQUIRE(run.metrics.size() == 2000);
  for (int i = 0; i < 30; ++i) {
    gate::RunMetrics earlier = run;
    for (gate::MetricValue& metric : earlier.metrics) metric.value *= noise(generator);
    gate::BaselineFolder((box.folder() / "baseline").string()).add(earlier);
  }
  // The best of a few: other work on the machine costs processor time too, through the caches.
  const std::string check = "check result.json --baseline baseline";
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double before = children_cpu_s();
    expect(0, box.call(check)).first_line("PASS: 2,000 metrics, no regression");
    best = std::min(best, children_cpu_s() - before);
  }
#ifdef NDEBUG
  CHECK(best < 0.4);
#else
  CHECK(best < 3);
#endif
  // The most memory that it held at once, by its own account at its end.
  const CapturedRun measured =
      expect(0, box.shell("$F " + check +
                          " >/dev/null & child=$!; most=0; "
                          "while size=$(grep VmHWM /proc/$child/status 2>/dev/null | tr -cd 0-9) "
                          "&& [ -n \"$size\" ]; do most=$size; done; wait $child && echo $most"));
  const int most_kib = std::stoi(measured.output);
  CHECK(most_kib > 20 * 1024);
  CHECK(most_kib < 200 * 1024);
  // Where memory is short it says so.
  expect(2, within(box, 100, check)).complains("too little memory");
}

TEST_CASE("A file of a gigabyte is refused without reading it") {
  Sandbox box({});
  const fs::path file = box.folder() / "huge.json";
  write_text(file, "{");
  fs::resize_file(file, std::uintmax_t{1} << 30);
  expect(2, within(box, 100, "check huge.json --baseline baseline"))
      .complains("is larger than 64 MiB")
      .error_lines(1);
  expect(2, within(box, 100, "check --base 'truncate -s 1G {out}' --head 'truncate -s 1G {out}'"))
      .complains("is larger than 64 MiB");
}

TEST_CASE("The largest file that is read costs bounded memory, whatever is in it") {
  Sandbox box({});
  const auto check_filled = [&](const std::string& piece, const std::string& end,
                                const std::string& said) {
    std::string text = "{\"context\": {}, \"benchmarks\": [";
    while (text.size() + piece.size() + end.size() <= gate::largest_result) text += piece;
    write_text(box.folder() / "large.json", text + end);
    expect(2, within(box, 1400, "check large.json --baseline baseline"))
        .error_lines(1)
        .complains(said);
  };
  // The most values; cut off, which the slower parser tells; and the most metrics.
  check_filled("0,", "0]}", "more than 200000 rows");
  check_filled("{\"a\":0},", "", "is not JSON: parse error at line 1");
  check_filled("{\"name\":\"a\",\"real_time\":1},", "{}]}", "more than 200000 rows");
}

/// What a fleet of 10,000 may take, 10 s on two processors and 1 GiB, as the share of this one; the
/// pictures take the same time for any. FATHOM_FLEET_TEST_GPUS asks for another size.
TEST_CASE("A large fleet is collected within its time and memory", "[e2e][fleet]") {
  const char* asked = std::getenv("FATHOM_FLEET_TEST_GPUS");
  const int gpus = asked ? std::atoi(asked) : 1000, planted = gpus / 100;
  const double share = gpus / 10'000.0, pictures_s = 2, start_mib = 64;
  Sandbox box({});
  expect(0,
         box.shell(fmt::format("\"$(dirname \"$F\")\"/fleet_simulate {} --out jobs --gpus {} "
                               "--planted {}",
                               FATHOM_SOURCE_DIR "/recordings/h200/result.json", gpus, planted)));
  const double before_s = children_cpu_s();
  expect(0, box.call("fleet collect jobs --out out"));
  CHECK(children_cpu_s() - before_s < 2 * 10 * share + pictures_s);
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);  // of the largest: making the fleet takes less
  CHECK(static_cast<double>(usage.ru_maxrss) / 1024 < 1024 * share + start_mib);
  const auto fleet = nlohmann::json::parse(file_text(box.out() / "fleet.json"));
  CHECK(fleet.at("gpus").size() == static_cast<std::size_t>(gpus));
  CHECK(fleet.at("links").size() == static_cast<std::size_t>(gpus / 8));
  CHECK(fleet.at("named").size() >= static_cast<std::size_t>(planted));
  CHECK(fleet.at("named").size() <= static_cast<std::size_t>(planted + gpus / 1000));
  CHECK(fs::file_size(box.out() / "report" / "README.md") < 1 << 20);
}

#ifdef NDEBUG
TEST_CASE("A million patterns take under two seconds of one core", "[e2e]") {
  // A quarter of a million, of every width, conflicts and inactive lanes; by processor time, which
  // a busy machine does not lengthen.
  std::string rows = "op,bytes", block;
  for (int lane = 0; lane < 32; ++lane) rows += fmt::format(",lane{}", lane);
  for (int i = 0; i < 100; ++i) {
    const int bytes = 1 << i % 5;
    block += fmt::format("\n{},{}", i % 2 == 0 ? "load" : "store", bytes);
    for (int lane = 0; lane < 32; ++lane)
      block += lane == i % 32 ? "," : fmt::format(",{}", lane * bytes * (i * 37 % 101));
  }
  for (int i = 0; i < 2500; ++i) rows += block;
  Sandbox box({});
  write_text(box.folder() / "many.csv", rows + "\n");
  const std::string memory = GENERATE("shared", "global");
  const double before = children_cpu_s();
  const CapturedRun run = expect(0, box.call("predict " + memory + " --patterns many.csv"));
  CHECK(std::ranges::count(run.output, '\n') == 250'001);
  CHECK(4 * (children_cpu_s() - before) < 2.0);
}
#endif
