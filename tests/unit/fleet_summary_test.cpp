#include <sys/stat.h>
#include <unistd.h>

#include "fleet/fleet.h"
#include "results/document_io.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/planted_cards.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::fleet;

namespace {

const Document& recording() {
  static const Document document =
      read_document(std::filesystem::path(FATHOM_SOURCE_DIR) / "recordings/h200/result.json");
  return document;
}

const GpuSummary& recorded() {
  static const GpuSummary summary = [] {
    GpuSummary summary;
    summary.host = "node\"1";
    summary.gpu = 3;
    summary.rank = 11;
    add_document(summary, recording(), Phase::together);
    return summary;
  }();
  return summary;
}

std::string refusal(const std::string& text) {
  const std::string refused = refusal_of([&] { parse_summary(text, "gpu.json"); }).text;
  return refused.empty() ? "accepted" : refused;
}

/// Whether the text or the reason of a problem has these words.
bool told(const Fleet& fleet, const std::string& words) {
  return std::ranges::any_of(fleet.problems, [&](const Problem& problem) {
    return (problem.what + "\n" + problem.reason).find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("A summary keeps what a fleet's report needs, and comes back as it was", "[fleet]") {
  GpuSummary summary = recorded();
  REQUIRE(summary.names.size() == recording().entries.size());
  summary.no_counters = "not asked for";
  summary.counters_of = {"copy", "quoted\"name"};
  const std::string text = to_text(summary);
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/fleet_card.txt",
               text.substr(0, text.find("\"metrics\"")));
  const GpuSummary read = parse_summary(text, "gpu.json");
  CHECK(to_text(read) == text);
  CHECK(read.figures.at(0).together == summary.figures[0].together);
  CHECK_FALSE(read.figures[0].alone);
}

TEST_CASE("Repetitions count by their median, and unusable figures not at all", "[fleet]") {
  Document document = recording();
  Entry entry = document.entries.front();
  entry.verdict = {};
  document.entries.clear();
  for (const double value : {3.0, 1.0, 2.0}) {
    entry.name = "probe/repeated";
    entry.metric.value = value;
    document.entries.push_back(entry);
  }
  entry.name = "probe/wrong";
  entry.verdict.status = VerdictStatus::wrong_output;
  document.entries.push_back(entry);
  entry.name = "probe/missing";
  entry.verdict.status = VerdictStatus::ok;
  entry.metric.value.reset();
  document.entries.push_back(entry);
  GpuSummary summary;
  add_document(summary, document, Phase::alone);
  REQUIRE(summary.names.size() == 1);
  CHECK(*summary.figures.front().alone == 2);
}

TEST_CASE("A figure that is none is nothing", "[fleet]") {
  for (const double none : {std::nan(""), std::numeric_limits<double>::infinity(), 1e300})
    CHECK_FALSE(Reading(none));
  CHECK_FALSE(Reading());
  CHECK(Reading(0.0));
  CHECK(*Reading(4.286e12) == Approx(4.286e12));
}

TEST_CASE("A summary that is none is refused with its place", "[fleet]") {
  const std::string good = to_text(recorded());
  CHECK_THAT(refusal(good.substr(0, good.size() / 2)), contains("gpu.json"));
  CHECK_THAT(refusal("{}"), contains("fathom_fleet_gpu"));
  const auto changed = [&](const std::string& key, const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(key + from);
    return refusal(text.replace(at + key.size(), from.size(), to));
  };
  using Text = const char*;
  for (const auto& [key, from, to, said] :
       std::initializer_list<std::tuple<Text, Text, Text, Text>>{
           {"\"fathom_fleet_gpu\": ", "1", "2", "version 2"},
           {"\"counters_of\": ", "[]", "[7]", "counters_of"},
           {"", "\"counters_of\": [],", "", "accepted"},  // as older ones are
           {"\"gpu\": ", "3", "-3", "/gpu is -3; expected: a whole number"},
           {"\"gpu\": ", "3", "1e300", "/gpu is 1e+300"},
           {"\"status\": ", "\"complete\"", "\"fine\"", "status"},
           {"\"alone\": [", "null,", "", "values; expected: 518"},
           {"\"alone\": [", "null,", "null,null,", "values; expected: 518"},
           {"\"alone\": [", "null,", "\"x\",", "number"}})
    CHECK_THAT(changed(key, from, to), contains(said));
  GpuSummary twice = recorded();
  twice.names[7].name = twice.names[3].name;
  CHECK_THAT(refusal(to_text(twice)),
             contains("metrics/name has \"" + twice.names[3].name + "\" twice") && !contains('\n'));
}

TEST_CASE("A date that is none is refused, in a summary and in a document", "[fleet]") {
  GpuSummary summary = recorded();
  Document document = recording();
  summary.date = document.date = "2026-02-30T00:00:00Z";
  CHECK_THAT(refusal(to_text(summary)),
             contains("/date is \"") && contains("expected: a time in UTC"));
  TestFolder folder;
  folder.write("a/gpu.json", to_text(summary));
  folder.write("b/c.json", to_text(document));
  const Fleet fleet = read_fleet(folder.path(), {});
  CHECK(fleet.gpus.empty());
  CHECK(std::ranges::count(fleet.problems, 12, &Problem::exit_code) == 2);
  summary.date.clear();
  CHECK_THAT(refusal(to_text(summary)), contains("/date is \"\""));
  GpuSummary failed;  // before anything was measured
  failed.host = "a";
  CHECK(refusal(to_text(failed)) == "accepted");
}

TEST_CASE("A folder of many jobs is read whatever of it is broken", "[fleet]") {
  TestFolder folder;
  GpuSummary summary = recorded();
  summary.host = "a.example.org";
  summary.date = "2026-11-20T00:00:00Z";
  for (int gpu = 0; gpu < 3; ++gpu) {
    summary.gpu = gpu;
    summary.uuid_hash = "hash" + std::to_string(gpu);
    folder.write("gpus/a-" + std::to_string(gpu) + "/gpu.json", to_text(summary));
  }
  // What the summary sums up is not read again, and a torn file takes nothing with it.
  folder.write("gpus/a-0/suite/result.json", "{ not read");
  folder.write("gpus/a-3/gpu.json", to_text(summary).substr(0, 5000));
  folder.write("gpus/a-4/gpu.json.123-abc.tmp", "half");
  // The same card measured again; and where a summary is a folder, a plain run's document.
  summary.gpu = 7;
  summary.date = "2026-11-22T00:00:00Z";
  folder.write("again/gpu.json", to_text(summary));
  std::filesystem::create_directories(folder / "b/gpu.json");
  folder.write("b/suite/result.json", to_text(recording()));
  // What is no file, for which nobody waits.
  REQUIRE(mkfifo((folder / "pipe.json").c_str(), 0600) == 0);
  std::filesystem::create_symlink("nowhere", folder / "dangling.json");
  std::filesystem::create_symlink("/dev/zero", folder / "endless.json");
  std::filesystem::create_directory_symlink(folder.path(), folder / "round");
  const Fleet fleet = read_fleet(folder.path(), {.gpus = 6, .hosts = {"a", "c"}, .run = ""});
  REQUIRE(fleet.gpus.size() == 4);
  CHECK(fleet.gpus[2].gpu == 7);  // instead of a-2
  CHECK(fleet.gpus[3].host == "b/suite");
  CHECK(fleet.metrics.size() == recording().entries.size());
  for (const char* what : {"a-3/gpu.json", ".tmp", "host c", "2 GPUs", "a-2/gpu.json", "b/gpu.json",
                           "pipe.json", "dangling.json", "endless.json"})
    CHECK(told(fleet, what));
  for (const char* what : {"a-0", "host a", "round"}) CHECK_FALSE(told(fleet, what));
}

TEST_CASE("Exit codes that files name are those of the table", "[fleet]") {
  const auto told = [](GpuStatus status, int exit_code) {
    GpuSummary summary = recorded();
    summary.status = status;
    summary.exit_code = exit_code;
    const Fleet fleet = fleet_of({summary});
    return fleet.problems.empty() ? 0 : fleet.problems.front().exit_code;
  };
  CHECK(told(GpuStatus::complete, 0) == 0);
  CHECK(told(GpuStatus::complete, 1) == 1);
  CHECK(told(GpuStatus::complete, 18) == 18);
  for (const int unknown : {0, 1, 2, 5, 9, 24, 256}) CHECK(told(GpuStatus::partial, unknown) == 5);
  CHECK(told(GpuStatus::complete, 256) == 5);
  CHECK(told(GpuStatus::failed, 20) == 20);
}

TEST_CASE("A folder that may not be looked into takes nothing with it", "[fleet]") {
  TestFolder folder;
  folder.write("z/gpu.json", to_text(recorded()));
  std::filesystem::create_directory(folder / "locked");
  std::filesystem::permissions(folder / "locked", std::filesystem::perms::none);
  if (access((folder / "locked").c_str(), R_OK) == 0) SKIP("root may look into it");
  const Fleet fleet = read_fleet(folder.path(), {});
  CHECK(fleet.gpus.size() == 1);
  REQUIRE(fleet.problems.size() == 1);
  CHECK(fleet.problems.front().what == "locked");
}

TEST_CASE("Two GPUs of one name are told", "[fleet]") {
  GpuSummary other = recorded();
  other.uuid_hash = "another";
  const Fleet fleet = fleet_of({recorded(), other});
  CHECK(fleet.gpus.size() == 2);
  REQUIRE(fleet.problems.size() == 1);
  CHECK(told(fleet, "the name of two GPUs"));
}

TEST_CASE("Hosts are found by their short names, and not by another's", "[fleet]") {
  GpuSummary summary = recorded();
  summary.host = "a.example.org";
  for (const auto& [host, missing] :
       {std::pair("a", false), {"a.example.org", false}, {"a.example.com", true}, {"b", true}})
    CHECK(fleet_of({summary}, {.gpus = {}, .hosts = {host}, .run = ""}).problems.empty() !=
          missing);
}
