#include "harness/probe_options.h"

#include "probes/claims.h"
#include "probes/model_validation/campaigns.h"
#include "results/document_fields.h"
#include "results/fields.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using model_validation::CampaignResult;
using model_validation::Comparison;

namespace {

Comparison comparison(const std::string& name) { return {name, "some__metric.sum", "wavefronts"}; }

/// Ten patterns; in those of `wrong` the counter reads one too many.
CampaignResult result_with(const std::set<int>& wrong) {
  CampaignResult result{
      "the shared-memory model",
      {comparison("shared_load_wavefronts"), comparison("shared_load_conflicts")}};
  for (int i = 0; i < 10; ++i, ++result.trials) {
    const bool right = !wrong.contains(i);
    const auto describe = [&] { return "row " + std::to_string(i); };
    CHECK(result.comparisons[0].add(right ? i : i + 1, i, describe) == right);
    CHECK(result.comparisons[1].add(0, 0, describe));
    result.differing += !right;
  }
  return result;
}

/// What is reported of a campaign, judged.
std::string told(const CampaignResult& result) {
  Entry entry;
  entry.metric = {"mismatches", "patterns", Better::lower, std::nullopt};
  CHECK(model_validation::report(result, entry) == result.wrong);
  if (entry.metric.value) entry.interval = Interval{0, 0, 1, "as the runner says of a count"};
  judge_entry(entry);
  std::string text = write_fields(entry.metric.value).dump() + " of " +
                     write_fields(entry.extras).dump() + ": " + write_fields(entry.verdict).dump() +
                     "\n";
  for (const Counter& counter : entry.counters) text += "  " + write_fields(counter).dump() + "\n";
  return text;
}

}  // namespace

TEST_CASE("a campaign has a value where everything was compared, and shows what differs first",
          "[harness]") {
  std::string all;
  const auto add = [&](const char* what, CampaignResult result, auto change) {
    change(result);
    all += what + (": " + told(result));
  };
  const auto nothing = [](CampaignResult&) {};
  add("all agree", result_with({}), nothing);
  add("one differs", result_with({7}), nothing);
  add("differences that cancel in the sum", result_with({}), [](CampaignResult& result) {
    for (const auto& [counted, expected] : {std::pair{3, 4}, {4, 3}}) {
      result.comparisons[0].add(counted, expected, [] { return std::string("row"); });
      result.comparisons[1].add(0, 0, {});
      ++result.trials, ++result.differing;
    }
  });
  // Nothing is measured, and nothing has failed.
  add("without counters", result_with({}), [](CampaignResult& result) {
    for (Comparison& comparison : result.comparisons)
      comparison.compared = 0, comparison.reason = "switched off";
  });
  add("one counter alone", result_with({3}), [](CampaignResult& result) {
    result.comparisons[1].reason = "no such metric", result.comparisons[1].compared = 0;
  });
  add("a trial is missing, with a reason", result_with({3}), [](CampaignResult& result) {
    result.comparisons[1].reason = "no such metric", --result.comparisons[1].compared;
  });
  add("a trial is missing", result_with({}), [](CampaignResult& result) { ++result.trials; });
  add("nothing to compare", {"a model", {}}, [](CampaignResult& result) { result.trials = 10; });
  add("no trial", {"a model", {comparison("shared_load_wavefronts")}}, nothing);
  // The runner makes the verdict on a wrong output.
  add("a wrong output", result_with({}),
      [](CampaignResult& result) { result.wrong = "lane 3 read 0x1"; });
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/campaigns.txt", all);
  CHECK(result_with({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).comparisons[0].examples.size() ==
        Comparison::most_examples);
}

TEST_CASE("the model validation says how many differ and what was not compared", "[probes]") {
  std::vector<Entry> entries;
  for (const auto& [model, differing] : {std::pair{"shared memory", 0.0},
                                         {"shared memory", 2.0},
                                         {"global memory", 0.0},
                                         {"occupancy", 0.0}}) {
    entries.push_back(planted::entry("e", {{"model", model}}, differing, Better::lower));
    entries.back().extras["trials"] = 5000;
  }
  CHECK(model_validation::conclude(entries).answer ==
        "2 of 10,000 random warp patterns differ from the shared-memory model; 0 of 5,000 random "
        "warp patterns differ from the global-memory model; 0 of 5,000 random configurations "
        "differ from the occupancy model.");
  entries[2].metric.value.reset();
  CHECK_THAT(model_validation::conclude(entries).answer,
             contains("; 1 of the cases could not be compared with the global-memory model; "));
  CHECK(model_validation::conclude({}).answer.empty());
  CHECK_FALSE(model_validation::conclude({}).views.empty());
}

namespace {

Probe with_options() {
  using Kind = ProbeOption::Kind;
  return {.name = "with_options",
          .question = "Which?",
          .method = "None.",
          .options = {{"patterns", "Patterns", 20, 100, 1, 1000},
                      {.name = "scale", .kind = Kind::number},
                      {.name = "label", .kind = Kind::text},
                      {.name = "rows", .most = 10, .optional = true}}};
}

OptionValues values_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "probe_with_options");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const auto options =
      parse_probe_options(static_cast<int>(argv.size()), argv.data(), with_options());
  return options.value().own;
}

}  // namespace

TEST_CASE("a probe's own options have values by suite, or where they are given, within limits",
          "[harness]") {
  using Words = std::vector<std::string>;
  for (const auto& [words, patterns] : {std::pair{Words{}, 100},
                                        {{"--suite", "quick"}, 20},
                                        {{"--suite", "quick", "--patterns", "77"}, 77},
                                        {{"--patterns=1000"}, 1000}})
    CHECK(values_of(words) == OptionValues{{"patterns", std::int64_t{patterns}}});
  CHECK(values_of({"--scale", "-2.5", "--label=NT", "--rows", "7"}) ==
        OptionValues{{"patterns", std::int64_t{100}},
                     {"scale", -2.5},
                     {"label", std::string("NT")},
                     {"rows", std::int64_t{7}}});
  CHECK(std::get<double>(values_of({"--scale=+1e-310"}).at("scale")) == 1e-310);
  for (const char* bad :
       {"--patterns=0", "--patterns=1001", "--patterns=many", "--paterns=5", "--scale=much",
        "--scale=nan", "--scale=1e400", "--rows=1.5", "--rows=11", "--rows=0"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(values_of({bad}), Error);
  }
}
