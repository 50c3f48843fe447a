#include "tools/predict/predict.h"

#include <CLI/CLI.hpp>

#include "results/flag_checks.h"
#include "tests/testing.h"

namespace fathom {
namespace {

/// A second's worth of traffic, of which `read_share` was counted as read from DRAM.
Entry traffic(std::string name, double bandwidth, std::optional<double> read_share,
              double bound = 4.8e12) {
  Entry entry;
  entry.name = std::move(name);
  entry.metric = {"bandwidth", "B/s", Better::higher, bandwidth};
  entry.real_time_s = 1;
  entry.bound = Bound{bound, "made up"};
  if (read_share)
    entry.counters.push_back(
        {"dram_read_bytes", "", "B", *read_share * bandwidth, "", std::nullopt, 0, ""});
  return entry;
}

Entry product(std::string name, std::string type, double flops) {
  Entry entry;
  entry.name = std::move(name);
  entry.axes = {{"type", std::move(type)}};
  entry.metric = {"throughput", "FLOP/s", Better::higher, flops};
  return entry;
}

Document document() {
  Document d;
  d.date = "2026-01-31T12:00:00Z";
  d.fingerprint.gpu_name = "NVIDIA H200";
  d.fingerprint.sms = 132;
  d.fingerprint.memory_bytes = 150'000'000'000;
  d.bounds = {{"dram_bandwidth", "B/s", "made up", 4.8e12}};
  d.entries = {traffic("copy", 4.2e12, 0.5), traffic("write", 4.7e12, 0.0),
               traffic("read", 4.5e12, 0.999), traffic("cache", 6e12, 0.001, 33e12),
               product("bf16", "bf16", 700e12)};
  return d;
}

TEST_CASE("A document's best sound copy or read is its bandwidth", "[predict]") {
  const Machine machine(document(), "result.json");
  CHECK(machine.bandwidth().value == 4.5e12);
  CHECK(machine.bandwidth().origin == "measured");
  CHECK(machine.memory().origin == "driver");
  const auto source = [](auto change) {
    Document d = document();
    change(d.entries);
    return Machine(d, "result.json").bandwidth().source;
  };
  using Entries = std::vector<Entry>;
  CHECK(source([](Entries& all) { all.erase(all.begin() + 2); }) == "copy");
  CHECK_THAT(source([](Entries& all) { all = {all[1]}; }), StartsWith("NVIDIA H200 data sheet"));
  CHECK(source([](Entries& all) { all[2].metric.value.reset(); }) == "copy");
  using enum VerdictStatus;
  for (const VerdictStatus verdict : {above_bound, counter_mismatch, wrong_output, failed, noisy})
    CHECK(source([&](Entries& all) { all[2].verdict.status = verdict; }) ==
          (verdict == noisy ? "read" : "copy"));
}

TEST_CASE("What a document has not measured is the data sheet's, and says so", "[predict]") {
  const Machine machine(document(), "result.json");
  CHECK(machine.peak("bf16")->value == 700e12);
  CHECK(machine.peak("bf16")->origin == "measured");
  CHECK(machine.peak("fp8")->value == 1979e12);
  CHECK(machine.peak("fp8")->origin == "data sheet");

  Document unbounded = document();
  unbounded.bounds.clear();
  CHECK(Machine(unbounded, "x").bandwidth().origin == "data sheet");
  Document bare = document();
  bare.entries.clear();
  CHECK(Machine(bare, "x").bandwidth().value == 4.8e12);

  // A GPU that the table lacks has what was measured and nothing else.
  Document unknown = document();
  unknown.fingerprint.gpu_name = "NVIDIA H999";
  const Machine other(unknown, "other.json");
  CHECK(other.name == "NVIDIA H999");
  CHECK(other.bandwidth().value == 4.5e12);
  CHECK(!other.link());
  CHECK_THROWS_MATCHES(other.peak("fp8"), Error,
                       MessageMatches(contains("other.json") && contains("NVIDIA H999")));
}

TEST_CASE("A replay is called one", "[predict]") {
  Document d = document();
  CHECK(Machine(d, "result.json").source == "measured");
  CHECK_THAT(Machine(d, "result.json").origin, contains("measured in result.json"));
  d.source = Source::replay;
  const Machine replay(d, "result.json");
  CHECK(replay.source == "replay");
  CHECK_THAT(replay.origin, StartsWith("REPLAY: "));
  CHECK(replay.bandwidth().origin == "replay");
  CHECK(replay.peak("bf16")->origin == "replay");
}

TEST_CASE("A machine by name, and the closest to a misspelt one", "[predict]") {
  CHECK(!machine_of({}));
  const auto machine = machine_of({.gpu = "rtx 4090", .result = {}});
  REQUIRE(machine);
  CHECK(machine->source == "data sheet");
  CHECK(machine->bandwidth().value == 1008e9);
  CHECK(machine->link()->value == 32e9);  // PCIe: it has no NVLink
  CHECK(!machine->peak("fp64-tensor"));
  CHECK(!Machine(*models::find_gpu("T4")).peak("bf16"));
  CHECK_THROWS_MATCHES(machine_of({.gpu = "RTX 4009", .result = {}}), Error,
                       MessageMatches(contains("Did you mean `RTX 4090`?")));
  for (const char* precision :
       {"fp64", "fp64-tensor", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"})
    CHECK(Machine(*models::find_gpu("H200")).peak(precision));
}

std::string after(const CLI::Validator& check, std::string text) {
  const std::string problem = check(text);
  return problem.empty() ? text : "refused";
}

TEST_CASE("Quantities take the suffixes that people write", "[predict]") {
  for (const auto& [check, text, value] : {std::tuple{quantity("B"), "1.5e9", 1.5e9},
                                           {quantity("B"), "4GiB", 4294967296.0},
                                           {quantity("B"), "0", 0.0},
                                           {quantity("B/s"), "7.5 TB/s", 7.5e12},
                                           {model_size(), "0.5b", 5e8},
                                           {model_size(), "1.8T", 1.8e12},
                                           {model_size(), "8030261248", 8030261248.0}})
    CHECK(std::stod(after(check, text)) == value);
  for (const char* bad : {"", "x", "-1", "nan", "inf", "1e999", "4Q", "4 Gi B x", "B", "1,5"})
    CHECK(after(quantity("B"), bad) == "refused");
  for (const char* bad : {"", "0", "-7B", "nan", "7GiB", "B"})
    CHECK(after(model_size(), bad) == "refused");
}

}  // namespace
}  // namespace fathom
