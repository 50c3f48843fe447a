#include "studies/gate/trials/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gate/commands/commands.h"
#include "gate/run_metrics.h"
#include "results/files.h"
#include "results/text.h"
#include "studies/gate/trials/load.h"
#include "tools/programs.h"

namespace fathom::gate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A decision has its own time limits; beyond this something hangs.
constexpr std::chrono::hours longest_decision{2};
constexpr std::size_t largest_decision = std::size_t{1} << 28;

std::string victim_command(const TrialSetup& setup, const std::vector<Planted>& planted) {
  return fmt::format(
      "{} --suite quick --no-counters --wait --out {{out}} "
      "--benchmark_filter={{filter}}{}",
      shell_quoted(setup.victim.string()), victim_flags(planted));
}

/// What ended a decision about the machine or the metrics; any other code is about the command.
bool is_decision(const ProcessEnd& end) {
  for (const ExitCode code :
       {ExitCode::ok, ExitCode::check_failed, ExitCode::inconclusive, ExitCode::metric_missing})
    if (end.signal == 0 && end.status == to_int(code)) return true;
  return false;
}

void take_metrics(const json& decided, const TrialPlan& plan, TrialRecord& record) {
  const auto planted_in = [&](const std::string& name) {
    return std::ranges::find(plan.planted, name, &Planted::metric);
  };
  for (const json& metric : decided.at("metrics")) {
    const std::string name = metric.at("name"), outcome = metric.at("outcome");
    const auto planted = planted_in(name);
    if (outcome == "inconclusive")
      record.undecided.push_back(name + ": " + metric.at("reason").get<std::string>());
    if (planted == plan.planted.end() && outcome != "regression") continue;
    JudgedMetric judged{planted == plan.planted.end() ? Planted{name, "", 0} : *planted, outcome,
                        std::nullopt};
    if (const json& evidence = metric.at("evidence");
        !evidence.is_null() && evidence.at("scale") == "log")
      judged.worse = std::expm1(evidence.at("worse_by").get<double>());
    (planted == plan.planted.end() ? record.flagged : record.planted).push_back(std::move(judged));
  }
  // A round that failed ends a check before anything is known of a metric.
  if (decided.at("metrics").empty())
    for (const Planted& planted : plan.planted) record.planted.push_back({planted, "", {}});
  record.metrics = decided.at("metrics").size();
  record.rounds = decided.at("rounds");
  record.confirmation_rounds = decided.at("confirmation_rounds");
  record.headline = decided.at("headline");
}

/// The GPU's name from the first round's result, where it says.
std::string gpu_of(const fs::path& rounds) {
  for (const char* side : {"base", "head"}) {
    const fs::path result = rounds / fmt::format("round-001-{}", side) / "result.json";
    try {
      if (fs::exists(result)) return fact_of(read_run_metrics(result), "gpu_name");
    } catch (const Error&) {
      // The check itself has said what is wrong with it.
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> victim_metrics(const TrialSetup& setup) {
  const CapturedRun run =
      run_and_capture(setup.victim, {"--suite", "quick", "--wait", "--benchmark_list_tests=true"},
                      std::chrono::minutes(2));
  std::vector<std::string> metrics;
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);)
    if (line.find('/') != std::string::npos)
      metrics.push_back(line.substr(0, line.find("/iterations:")));
  if (run.end.signal != 0 || run.end.status != 0 || metrics.empty())
    fail(ExitCode::setup_incomplete,
         "{} does not tell its metrics ({}): it needs the GPU for that.", setup.victim.string(),
         run.end.describe());
  return metrics;
}

std::string tool_of(const TrialSetup& setup) {
  const CapturedRun run = run_and_capture(setup.fathom, {"--version"}, std::chrono::seconds(10));
  const std::string tool = last_line(run.output);
  if (run.end.signal != 0 || run.end.status != 0 || tool.empty())
    fail(ExitCode::setup_incomplete, "{} does not tell its version ({}).", setup.fathom.string(),
         run.end.describe());
  return tool;
}

std::optional<TrialRecord> decide(const TrialSetup& setup, const TrialPlan& plan,
                                  double expected_s) {
  const TemporaryFolder temporary("give a folder with --keep");
  const fs::path rounds = setup.keep.empty()
                              ? temporary.path() / "rounds"
                              : setup.keep / fmt::format("decision-{:04}", plan.index + 1);
  std::error_code none;
  if (setup.resumes) fs::remove_all(rounds, none);
  make_folder(rounds);
  const fs::path decided = temporary.path() / "check.json", log = temporary.path() / "log.txt";
  std::vector<std::string> arguments{
      "check",
      "--base",
      setup.base.empty() ? victim_command(setup, {}) : setup.base,
      "--head",
      setup.head.empty() ? victim_command(setup, plan.planted) : setup.head,
      "--seed",
      std::to_string(plan.seed),
      "--json",
      decided.string(),
      "--keep",
      rounds.string()};
  if (!setup.suite.empty()) arguments.insert(arguments.end(), {"--suite", setup.suite});
  const auto start = std::chrono::steady_clock::now();
  TrialRecord record;
  ProcessEnd end;
  {
    SignalInbox inbox(SignalInbox::Interrupts::collect);
    const FileDescriptor output = create_file(log);
    std::optional<LoadControl> load;
    if (plan.load) load.emplace(plan, setup.load, rounds, expected_s);
    ChildProcess child({setup.fathom, arguments, output.get(), output.get()});
    Supervision supervision;
    supervision.limit = longest_decision;
    supervision.look_every = std::chrono::milliseconds(20);
    if (load) supervision.look = [&] { load->tick(); };
    end = supervise(child, inbox, supervision);
    if (load) record.load = load->finish();
  }
  if (end.stopped == Stopped::interrupt) return std::nullopt;
  if (!is_decision(end))
    throw Error(end.signal == 0 ? static_cast<ExitCode>(end.status) : ExitCode::setup_incomplete,
                fmt::format("Decision {} ended with {}: {}", plan.index + 1, end.describe(),
                            last_line(read_file_up_to(log, largest_decision))));
  record.index = plan.index;
  record.seed = plan.seed;
  record.exit_code = end.status;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.date = utc_time(std::chrono::system_clock::now());
  record.gpu = gpu_of(rounds);
  take_metrics(json::parse(read_file_up_to(decided, largest_decision)), plan, record);
  return record;
}

}  // namespace fathom::gate
