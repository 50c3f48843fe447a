#include <fmt/ranges.h>

#include <regex>

#include "gate/commands/commands.h"
#include "tests/testing.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::gate;
namespace fs = std::filesystem;

namespace {

/// A benchmark in shell: its time is what the file `time` of the folder says, in ns.
std::string benchmark(const fs::path& folder) {
  return "printf '{\"context\": {\"host_name\": \"h\"}, \"benchmarks\": [{\"name\": \"BM/1\", "
         "\"real_time\": %s}, {\"name\": \"BM/2\", \"real_time\": 7}]}' $(cat " +
         shell_quoted((folder / "time").string()) + ") > {out}; echo {filter} >> " +
         shell_quoted((folder / "filters").string());
}

/// How a round of the head is refused.
Refusal refusal_by(ProcessRounds& rounds) {
  return refusal_of([&] { rounds.round(Side::head, {}); });
}

}  // namespace

TEST_CASE("A filter finds the names and what Google Benchmark appends, nothing else", "[gate]") {
  CHECK(filter_for({}) == ".");
  const std::regex filter(filter_for({"a/b:1", "c/(x+y)[2]", "d/e vs cuBLAS"}),
                          std::regex::extended);
  for (const char* name : {"a/b:1", "a/b:1/iterations:1/manual_time", "c/(x+y)[2]", "d/e"})
    CHECK(std::regex_search(name, filter));
  for (const char* name : {"a/b:16", "xa/b:1", "c/x+y2", "d/ef", "d"})
    CHECK(!std::regex_search(name, filter));
  // A word for the shell stays one word, also with the word for the result in it.
  CHECK(shell_quoted("it's $(x)") == "'it'\\''s $(x)'");
  const SideCommand side(Side::head, "run --out={out} --filter={filter} {out}");
  CHECK(side.start("/o/result.json", {"BM/{out}/1"}).arguments.back() ==
        "run --out='/o/result.json' --filter='^(BM/\\{out}/1)(/|$)' '/o/result.json'");
}

TEST_CASE("Rounds are processes that leave a result, with variables of their side", "[gate]") {
  const TestFolder folder;
  folder.write("time", "1500");
  const std::string command = "echo $FATHOM_CHECK_SIDE \"$FATHOM_CHECK_FILTER\" >> " +
                              (folder / "sides").string() + "; " + benchmark(folder.path());
  ProcessRounds rounds({Side::base, command}, {Side::head, command}, folder / "kept", 20);
  CHECK(rounds.can_select());
  const RunMetrics run = rounds.round(Side::base, {});
  REQUIRE(run.metrics.size() == 2);
  CHECK(run.metrics[0].value == 1500e-9);
  rounds.round(Side::head, {"BM/1"});
  CHECK(file_text(folder / "filters") == ".\n^(BM/1)(/|$)\n");
  CHECK(file_text(folder / "sides") == "base .\nhead ^(BM/1)(/|$)\n");
  CHECK(std::getenv("FATHOM_CHECK_SIDE") == nullptr);
  CHECK(fs::exists(folder / "kept/round-002-head/result.json"));
}

TEST_CASE("What is quoted already is not to be quoted again", "[gate]") {
  for (const char* command : {"cp x \"{out}\"", "cp x '{out}'", "run \"--out={out}\" {filter}",
                              "run {out} '--filter={filter}'", "sh -c \"echo \\\"a\\\" > {out}\""})
    CHECK_THROWS_AS(SideCommand(Side::head, command), Error);
  for (const char* command : {"run \"a b\" {out} 'c'", "run it\\'s {out} {filter}",
                              "run 'a \"b' {out} \"c 'd\" {filter}"})
    CHECK_NOTHROW(SideCommand(Side::head, command));
}

TEST_CASE("Rounds that go wrong say how", "[gate]") {
  const TestFolder folder;
  const auto rounds_of = [&](const std::string& command, const char* kept) {
    return ProcessRounds({Side::base, "true"}, {Side::head, command}, folder / kept, 20);
  };
  auto mistyped = rounds_of("bulid", "mistyped");
  const Refusal no_command = refusal_by(mistyped);
  CHECK(no_command.code == ExitCode::bad_input);
  CHECK_THAT(no_command.text, contains("exit status 127"));
  auto garbage = rounds_of("echo garbage > {out}", "garbage");
  CHECK_THAT(refusal_by(garbage).text,
             contains("round-001-head/result.json") && contains("is not JSON"));
  CHECK_THROWS_AS(SideCommand(Side::head, folder.path().string()), Error);
}

TEST_CASE("A build of Fathom is run with the suspects' probes and names", "[gate]") {
  const TestFolder folder;
  fs::permissions(folder.write("bin/fathom", "#!/bin/sh\n"), fs::perms::owner_all);
  const SideCommand build(Side::head, folder.path().string());
  CHECK(build.is_build());
  const auto start = build.start("/out/result.json", {"copy/x", "copy/y", "sum/z vs cub"});
  const std::string flags = fmt::format("{}", fmt::join(start.arguments, " "));
  CHECK(flags.find("run --suite quick --out /out --require-gpu") == 0);
  CHECK_THAT(flags, contains("--probe copy --probe sum --benchmark_filter=^(copy/x|copy/y|sum/z|"));
  // The gate reads neither counters nor what only they can decide.
  CHECK_THAT(flags, contains("--no-counters --no-report"));
  using Variables = std::vector<std::pair<std::string, std::string>>;
  CHECK(start.environment ==
        Variables{{"FATHOM_CHECK_TIMED_ONLY", "1"}, {"FATHOM_CHECK_SAMPLING_LIMIT", "0.1"}});
  // The other side may be a command that runs a Fathom of its own, and is to measure all of it.
  CHECK(std::getenv("FATHOM_CHECK_TIMED_ONLY") == nullptr);
}
