#include <nlohmann/json.hpp>

#include "tests/e2e/sandbox.h"

using namespace fathom;
using nlohmann::json;

namespace {

/// `gate_trials` with a fake victim and a fake load.
class Trials : public Sandbox {
 public:
  Trials() : Sandbox({}) {
    for (const char* name : {"gate_victim", "gate_load"})
      fs::create_symlink(FATHOM_FAKE_PROGRAM, folder() / name);
  }
  const fs::path journal = folder() / "journal.jsonl";

  CapturedRun run(const std::string& flags) const {
    return started("run", flags,
                   {"--fathom", FATHOM_PROGRAM, "--victim", folder() / "gate_victim", "--load",
                    folder() / "gate_load", "--journal", journal});
  }
  /// The report of the own journal and of others.
  CapturedRun report(const std::string& journals = "") const {
    return started("report", journals, {"--out", out(), journal});
  }
  std::string page(const std::string& journals = "") const {
    expect(0, report(journals));
    return file_text(out() / "trials.md");
  }
  /// The journal's decisions, without its first line.
  std::vector<json> decisions() const {
    std::vector<json> all;
    for (const std::string& line : lines_of(file_text(journal))) all.push_back(json::parse(line));
    all.erase(all.begin());
    return all;
  }

 private:
  static CapturedRun started(const std::string& command, const std::string& more,
                             std::vector<std::string> all) {
    all.insert(all.begin(), command);
    for (const std::string& word : words(more)) all.push_back(word);
    return run_and_capture(FATHOM_GATE_TRIALS, all, 100s);
  }
};

/// How many of one decision's planted metrics.
std::ptrdiff_t with(const json& decision, double size, const std::string& outcome) {
  return std::ranges::count_if(decision.at("planted"), [&](const json& metric) {
    return metric.at("size") == size && metric.at("outcome") == outcome;
  });
}

}  // namespace

TEST_CASE("gate_trials slows metrics or plants faults, and the gate finds the large ones alone") {
  Trials trials;
  expect(0, trials.run("--kind slowed --decisions 2 --slowed 4 --sizes 0.25,5"));
  const auto decisions = trials.decisions();
  REQUIRE(decisions.size() == 2);
  for (const json& decision : decisions) {
    CHECK(decision.at("exit_code") == 1);
    CHECK(decision.at("metrics") == 12);
    CHECK(decision.at("planted").size() == 4);
    CHECK(with(decision, 0.05, "regression") == 2);
    CHECK(with(decision, 0.0025, "unchanged") == 2);
    CHECK(decision.at("flagged").empty());
    CHECK(decision.at("undecided").empty());
    CHECK(decision.at("seconds") > 0);
  }
  // Other metrics in the second one.
  CHECK(decisions[0].at("planted") != decisions[1].at("planted"));
  has(trials.page(), "| 5 % | 4 of 4, 100.00 %", "| 0.25 % | 0 of 4, 0.00 %",
      "| nothing | 0 of 16, 0.00 %");
  // Each journal once.
  expect(2, trials.report(trials.journal.string()));
  // Real faults, in metrics that can have them (gate_trial_plan_test.cpp).
  fs::remove(trials.journal);
  expect(0, trials.run("--kind faults --decisions 1"));
  CHECK(trials.decisions().at(0).at("planted").size() == 6);
  has(trials.page(), "any measured to cost 3 % or more");
}

TEST_CASE("gate_trials starts another load at random, and beside the head's rounds") {
  Trials trials;
  trials.set("FAKE_ROUND_MS", "120");
  expect(0, trials.run("--kind disturbed --decisions 2 --patterns once,head --expected 0.4"));
  const auto decisions = trials.decisions();
  REQUIRE(decisions.size() == 2);
  const json& head = decisions[1].at("load");
  CHECK(head.at("pattern") == "head");
  CHECK(head.at("head_rounds") >= 2);
  CHECK(head.at("head_rounds") > head.at("base_rounds"));
  CHECK(decisions[0].at("load").at("seconds") > 0);
  has(trials.page(), "Two equal sides with another load");
}

TEST_CASE("A run that is cut loses nothing, and goes on where it was") {
  Trials trials;
  const std::string flags = "--kind unchanged --decisions 3 ";
  // No decision begins after the time limit.
  trials.set("FAKE_ROUND_MS", "100");
  expect(0, trials.run(flags + "--time-limit 0.1")).says("go on with --resume");
  trials.set("FAKE_ROUND_MS", "0");
  const auto first = trials.decisions();
  REQUIRE(first.size() == 1);
  CHECK(first[0].at("exit_code") == 0);
  // As if it was killed while it wrote a line.
  std::ofstream(trials.journal, std::ios::app) << "{\"index\": 1, \"see";
  expect(2, trials.run(flags));
  expect(2, trials.run(flags + "--resume --seed 7"));
  expect(0, trials.run(flags + "--resume"));
  const auto all = trials.decisions();
  REQUIRE(all.size() == 3);
  CHECK(all[0] == first[0]);
  CHECK(all[2].at("index") == 2);
  has(trials.page(), "0 of 3, 0.00 %");
}

TEST_CASE("gate_trials notes what decided, and tells each tool's rates apart") {
  Trials trials;
  expect(0, trials.run("--kind unchanged --decisions 1"));
  const std::string text = file_text(trials.journal),
                    tool = json::parse(first_line(text)).at("tool");
  CHECK(tool == first_line(trials.call("--version").output));
  has(trials.page(), "### Decided by " + tool);
  // A journal of another commit, and one of before commits were noted.
  const fs::path other = trials.folder() / "other.jsonl";
  for (const auto& [by, heading] :
       {std::pair{"", "### Decided before commits were noted"},
        {",\"tool\":\"fathom 0.0.1 (abc)\"", "### Decided by fathom 0.0.1 (abc)"}}) {
    const std::string old =
        text.substr(0, text.find(",\"tool\"")) + by + text.substr(text.find('}'));
    write_text(other, old);
    const std::string page = trials.page(other.string());
    const auto own = page.find(heading),
               together = page.find("### Decided by all of them together");
    REQUIRE(own != std::string::npos);
    has(page.substr(own), "0 of 1, 0.00 %");
    lacks(page.substr(own), "of 2, ");
    CHECK(page.find("0 of 2, 0.00 %", together) < own);
    // What another tool began is not gone on with.
    write_text(trials.journal, old);
    expect(2, trials.run("--kind unchanged --decisions 2 --resume")).complains("another tool");
    CHECK(file_text(trials.journal) == old);
    write_text(trials.journal, text);
  }
}

TEST_CASE("gate_trials counts a check whose round failed, and keeps rounds of a cut one apart") {
  Trials trials;
  const std::string kept = trials.folder() / "kept",
                    flags = "--kind unchanged --base false --head false --keep " + kept;
  fs::create_directories(fs::path(kept) / "decision-0001" / "round-001-base");
  expect(2, trials.run(flags + " --decisions 1"));  // somebody else's rounds
  expect(0, trials.run(flags + " --decisions 1 --resume"));
  const json decision = trials.decisions().at(0);
  CHECK(decision.at("exit_code") == 3);
  CHECK(std::string(decision.at("headline")).starts_with("INCONCLUSIVE: Round 1 of --"));
  // Where nothing can be measured, no more than a few are made.
  expect(23, trials.run(flags + " --decisions 10 --resume"))
      .complains("3 decisions in a row measured nothing; the last said: INCONCLUSIVE");
  CHECK(trials.decisions().size() == 4);
}

TEST_CASE("gate_trials refuses what makes no trial in one sentence") {
  Trials trials;
  for (const std::string flags : {"none", "slowed --sizes -1", "slowed --sizes nan",
                                  "slowed --base true --head true", "unchanged --base true"})
    expect(2, trials.run("--kind " + flags)).one_line();
  CHECK(!fs::exists(trials.journal));
  // A command that leaves no result is the user's mistake and no decision.
  expect(2, trials.run("--kind unchanged --base true --head true"));
  CHECK(trials.decisions().empty());
  write_text(trials.journal, "{}\n");
  expect(2, trials.report());
  fs::remove(trials.journal);
  expect(2, trials.report());
}
