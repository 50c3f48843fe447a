#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "results/flag_checks.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/export/export.h"
#include "tools/predict/predict_command.h"
#include "tools/program_commands.h"
#include "tools/suites.h"

namespace fathom {
namespace {

void add_recordings(CLI::App& app, std::filesystem::path& folder) {
  path_flag(app, "--recordings", folder,
            "Cards to compare this one with: a folder like Fathom's recordings (default: those "
            "that came with Fathom)",
            "DIR");
}

void add_run(CLI::App& app, RunArguments& options) {
  word_flag(app, "--suite", options.suite,
            "quick (under a minute), default (under three minutes), or another of `fathom list`",
            suite_names());
  app.add_option("--probe", options.probes,
                 "Only this probe, of whichever group; may be given several times")
      ->type_name("NAME");
  path_flag(app, "--out", options.out,
            "Folder for document, report and logs; what an earlier run left there is overwritten "
            "(default: fathom-<gpu>-<UTC time>)",
            "DIR");
  checked_flag(app, "--device", options.device, "CUDA device ordinal", ordinal(), "N")
      ->capture_default_str();
  CLI::Option* no_counters =
      app.add_flag("--no-counters", options.no_counters, "Do not collect hardware counters");
  app.add_option("--counters-of", options.counters_of,
                 "Only this probe collects hardware counters, and the others leave out the cases "
                 "that only counters can decide; may be given several times")
      ->excludes(no_counters)
      ->type_name("NAME");
  app.add_flag("--require-gpu", options.require_gpu,
               "Fail with exit code 3 where there is no GPU, instead of replaying a recording");
  app.add_flag("--replay", options.replay, "Replay the recording even if there is a GPU");
  app.add_flag("--wait", options.wait, "Wait if another Fathom holds the GPU");
  // Profilers of several processes get into each other's way, even of those that wait.
  app.add_flag("--start-together", options.start_together,
               "Start all probes at once, as far as the GPU's memory has room for them; they still "
               "measure one after the other, and a short run ends sooner (with --no-counters)")
      ->needs(no_counters);
  app.add_flag("--no-report", options.no_report, "Write the document only");
  add_recordings(app, options.recordings);
  checked_flag(app, "--seed", options.seed, "Seed of the random data", whole_number(), "N");
  checked_flag(
      app, "--time-limit", options.time_limit_s,
      "Seconds after which a probe is ended (default: 120 in quick suites, 600 in gemm, else 300)",
      seconds(), "SECONDS");
  app.footer(
      "Google Benchmark's flags go to every probe: --benchmark_filter=REGEX, "
      "--benchmark_repetitions=N, ...\n\n"
      "Examples:\n"
      "  fathom run                                   everything, about three minutes\n"
      "  fathom run --suite quick --out results       under a minute, into ./results\n"
      "  fathom run --suite atlas                     the memory hierarchy, level by level\n"
      "  fathom run --probe bank_conflicts            one probe\n"
      "  fathom run --benchmark_filter=1GiB           only the cases with 1GiB in their name\n"
      "  fathom run --require-gpu                     for CI: no replay where there is no GPU\n");
}

void add_report(CLI::App& app, ReportArguments& options) {
  app.add_option(
         "FILE", options.documents,
         "Result document of a run; with --html also several, and answers of explain in JSON")
      ->check(not_empty())
      ->required();
  path_flag(app, "--out", options.out,
            "Folder of the report, or with --html the page (default: report or report/index.html, "
            "beside FILE)",
            "PATH");
  app.add_flag("--html", options.html,
               "Only the HTML page: one file that shows all documents over each other");
  app.add_flag("--conclude", options.conclude,
               "With today's rules, instead of what was concluded when it was measured");
  add_recordings(app, options.recordings);
  app.footer(
      "Examples:\n"
      "  fathom report fathom-h200-20260131T120000Z/result.json\n"
      "  fathom report recordings/h200/result.json --conclude --out /tmp/h200\n"
      "  fathom report --html before/result.json after/result.json --out page.html\n"
      "  fathom report --html why.json --out why.html\n");
}

void add_export(CLI::App& app, ExportArguments& options) {
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats()) names.emplace_back(format.name);
  app.add_option("FORMAT", options.format,
                 "machine (JSON of facts), csv, openmetrics (Prometheus), bmf (Bencher), accelsim, "
                 "or inductor (PyTorch)")
      ->check(one_of(std::move(names)))
      ->required();
  app.add_option("RESULT", options.result, "Result document of a run")
      ->check(not_empty())
      ->required();
  path_flag(app, "--out", options.out, "Write it into this file (default: standard output)");
  app.footer(
      "machine, accelsim and inductor need facts, which the suites atlas and atlas-quick state;\n"
      "the others export entries where there are no facts.\n\n"
      "Examples:\n"
      "  fathom export csv recordings/h200/atlas/result.json\n"
      "  fathom export openmetrics result.json --out /var/lib/node_exporter/fathom.prom\n"
      "  fathom export accelsim recordings/h200/atlas/result.json --out fathom.config\n");
}

void add_recording_add(CLI::App& app, RecordingArguments& options) {
  app.add_option("RESULT", options.result, "Result document of a whole run of a suite")
      ->check(not_empty())
      ->required();
  path_flag(app, "--recordings", options.recordings, "Folder of recordings", "DIR");
  app.footer(
      "The copy has no paths; no document has a host name. A partial measurement is refused,\n"
      "and so is one beside another process.\n\n"
      "Example:\n"
      "  fathom recording add fathom-h200-20260131T120000Z/result.json\n");
}

void add_doctor(CLI::App& app, DoctorArguments& options) {
  app.add_option("--device", options.device, "Only this GPU, by CUDA device ordinal (default: all)")
      ->check(ordinal())
      ->type_name("N");
  app.add_flag("--json", options.json, "Print the checks as JSON");
  app.footer(
      "Examples:\n"
      "  fathom doctor\n"
      "  fathom doctor --device 1 --json\n");
}

}  // namespace

std::vector<Command> tool_commands() {
  const auto run = std::make_shared<RunArguments>();
  const auto add_run_to = [run](CLI::App& app) {
    add_run(app, *run);
    return [run] { return run_command(*run); };
  };
  const auto add_list = [](CLI::App& app) {
    app.footer("Example:\n  fathom list\n");
    return list_command;
  };
  std::vector<Command> commands{
      {.name = "run",
       .summary = "Measure the GPU and write document and report",
       .add = add_run_to,
       .benchmark_flags = &run->benchmark_flags},
      {.name = "list", .summary = "Show the probes, their questions and claims", .add = add_list},
      {.name = "doctor",
       .summary = "Check driver, permissions and tools",
       .add = with_arguments(add_doctor, doctor_command)},
      {.name = "report",
       .summary = "Make the report of a result document",
       .add = with_arguments(add_report, report_command)},
      {.name = "compare",
       .summary = compare_summary,
       .add = with_arguments(add_compare_flags, compare_command)},
      {.name = "export",
       .summary = "A result for other programs: csv, Prometheus, Accel-Sim, ...",
       .add = with_arguments(add_export, export_command)},
      {.name = "recording",
       .summary = "Add a result to the cards that others are compared with",
       .noun = "action",
       .footer = "Example:\n  fathom recording add fathom-h200-20260131T120000Z/result.json\n",
       .commands = {{.name = "add",
                     .summary = "Put a result into the folder of recordings",
                     .add = with_arguments(add_recording_add, recording_add_command)}}},
      predict_command()};
  commands.insert(commands.end(), std::begin(program_commands), std::end(program_commands));
  return commands;
}

}  // namespace fathom
