#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "reports/page/page.h"
#include "reports/recordings.h"
#include "results/document_io.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/commands.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// The folder that was asked for, or one that is named for GPU and time, with room for what a run
/// leaves. A folder of replayed figures cannot be taken for a measurement either.
fs::path output_folder(const RunArguments& options, const std::string& gpu, bool replay) {
  fs::path folder = options.out;
  if (folder.empty())
    folder = fmt::format("fathom-{}{}-{}", replay ? "replay-" : "", reports::gpu_slug(gpu),
                         utc_time_for_names(std::chrono::system_clock::now()));
  folder = fs::absolute(folder).lexically_normal();
  make_folder(folder);
  // Takes the room for real: neither permissions nor free-space figures tell the whole truth
  // (quotas, read-only mounts, reserved blocks). A default run takes about a quarter of it.
  constexpr off_t room_needed = off_t{16} << 20;
  const fs::path path = folder / ".fathom-room";
  const FileDescriptor file = create_file(path);
  unlink(path.c_str());  // at once: a run that is killed here leaves nothing
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file.get(), 0, room_needed);
  if (error) fail_write(folder, error);
  return folder;
}

void keep_probes(Document& document, const std::vector<std::string>& names) {
  check_names("--probe", names, names_of(document.probes));
  const auto keep = [&](auto& parts, auto name) {
    std::erase_if(parts,
                  [&](const auto& part) { return std::ranges::count(names, part.*name) == 0; });
  };
  keep(document.probes, &ProbeSummary::name);
  keep(document.entries, &Entry::probe);
  keep(document.claims, &Claim::probe);
  keep(document.facts, &Fact::probe);
}

/// The common end of measurement and replay.
void publish(const Document& document, const fs::path& folder, const RunArguments& options) {
  write_document(document, folder / "result.json");
  if (options.no_report)
    return print_line(fmt::format("Document: {}", (folder / "result.json").string()));
  reports::publish(document, folder / "report", "result.json",
                   card_of(document, options.recordings));
}

ExitCode replay(const RunArguments& options, const std::string& why) {
  const fs::path recording = replayed_recording(options.suite);
  if (!options.out.empty())
    require_distinct({{"the recording", recording}}, {{"--out", options.out / "result.json"}});
  Document document = read_document(recording);
  document.source = Source::replay;
  if (!options.probes.empty()) keep_probes(document, options.probes);
  if (document.suite != options.suite)
    document.warnings.push_back(
        fmt::format("The suite `{}` was asked for; the recording is of the suite `{}`.",
                    options.suite, document.suite));
  print_line(
      fmt::format("REPLAY: {}; replaying the recording of {} from {}. Nothing below was measured "
                  "here.",
                  why, document.fingerprint.gpu_name, document.date));
  publish(document, output_folder(options, document.fingerprint.gpu_name, true), options);
  return ExitCode::ok;  // nothing was measured, so no check can have failed
}

/// Without a GPU a run is a replay. A machine that has one all the same, which cannot be used, has
/// a problem that wants to be known.
ExitCode replay_without_gpu(const RunArguments& options, ExitCode code, const char* problem) {
  if (const auto address = nvidia_gpu_on_pci(); !address.empty())
    fail(code, "There is an NVIDIA GPU at PCI address {}, but {}", address, problem);
  if (options.require_gpu)
    throw Error(ExitCode::gpu_required,
                "There is no NVIDIA GPU on this machine, and --require-gpu was given.");
  return replay(options, "no NVIDIA GPU found");
}

ExitCode measure(const RunArguments& options, const std::vector<ProbeBinary>& probes,
                 const Fingerprint& fingerprint) {
  // For the whole run, so that nobody gets in between two probes.
  const FileDescriptor lock =
      lock_gpu(fingerprint.gpu_uuid_hash, std::chrono::hours(options.wait ? 1 : 0),
               [](const std::string& holder) {
                 print_line(fmt::format("Waiting for the GPU, which is in use by {}.", holder));
               });
  setenv("FATHOM_LOCK_FD", share_with_children(lock).c_str(), 1);
  const fs::path folder = output_folder(options, fingerprint.gpu_name, false);
  make_folder(folder / "logs");
  make_folder(folder / "parts");
  print_line(fmt::format("Measuring {} with {}, suite {}.", fingerprint.gpu_name,
                         counted(probes.size(), "probe"), options.suite));
  // Until the report is written: an interrupt ends the measuring, not the keeping of results.
  SignalInbox inbox(SignalInbox::Interrupts::collect);
  const auto [document, causes] = measure_probes(probes, options, folder, fingerprint, inbox);
  if (causes.empty())
    throw Error(ExitCode::bad_input,
                "No case of any probe matches --benchmark_filter: `probe_copy_bandwidth "
                "--benchmark_list_tests` shows how cases are named.");
  try {
    publish(document, folder, options);
  } catch (const Error& error) {
    fail(error.code(), "{} Nothing is lost: what was measured is in {}.", error.what(),
         folder.string());
  }
  // A part that does not fit the others stays.
  if (std::ranges::count(causes, ExitCode::incomplete) == 0) {
    std::error_code left_behind;  // which does no harm: it is in the document now
    fs::remove_all(folder / "parts", left_behind);
  }
  return combined_exit_code(causes);
}

ExitCode run(const RunArguments& options) {
  // It needs no programs, of which those of its suite may not be built.
  if (options.replay) return replay(options, "a replay was asked for");
  const fs::path programs = program_folder();
  const auto built = find_probes(programs);
  if (built.empty())
    return replay_without_gpu(
        options, ExitCode::setup_incomplete,
        "this build has no probes: build them with ./fathom run, or see a recording with "
        "--replay.");
  const auto probes = select_probes(built, options.probes, *find_run_suite(options.suite));
  check_names("--counters-of", options.counters_of, names_of(probes));
  Fingerprint fingerprint;
  try {
    fingerprint = query_device(programs, options.device);
  } catch (const Error& error) {
    if (error.code() != ExitCode::no_driver) throw;
    return replay_without_gpu(
        options, ExitCode::no_driver,
        "its driver cannot be used: install it, or start the container with the GPU (--gpus all); "
        "`fathom run --replay` shows a recording meanwhile.");
  }
  return measure(options, probes, fingerprint);
}

void add_run(CLI::App& app, RunArguments& options) {
  word_flag(app, "--suite", options.suite,
            "quick (under a minute), default (under three minutes), or another of `fathom list`",
            names_of(run_suites));
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
  CLI::Option* require_gpu =
      app.add_flag("--require-gpu", options.require_gpu,
                   "Fail with exit code 3 where there is no GPU, instead of replaying a recording");
  app.add_flag("--replay", options.replay, "Replay the recording even if there is a GPU")
      ->excludes(require_gpu);
  app.add_flag("--wait", options.wait, "Wait if another Fathom holds the GPU");
  // Profilers of several processes get into each other's way, even of those that wait.
  app.add_flag("--start-together", options.start_together,
               "Start all probes at once, if the GPU's memory has room for them; they still "
               "measure one after the other, and a short run ends sooner (with --no-counters)")
      ->needs(no_counters);
  app.add_flag("--no-report", options.no_report, "Write the document only");
  add_recordings_flag(app, options.recordings);
  checked_flag(app, "--seed", options.seed, "Seed of the random data", whole_number(), "N");
  checked_flag(
      app, "--time-limit", options.time_limit_s,
      "Seconds after which a probe is ended (default: 120 in quick suites, 600 in gemm, else 300)",
      seconds(), "SECONDS");
  // Google Benchmark's flags that make sense for a whole run: its document goes to --out.
  for (const std::string flag :
       {"filter", "repetitions", "min_time", "min_warmup_time", "format", "color", "context",
        "time_unit", "counters_tabular", "enable_random_interleaving"})
    app.add_option_function<std::vector<std::string>>(
           "--benchmark_" + flag,
           [&options, flag](const std::vector<std::string>& values) {
             for (const std::string& value : values)
               options.benchmark_flags.push_back("--benchmark_" + flag +
                                                 (value.empty() ? "" : "=" + value));
           })
        ->expected(0, 1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("VALUE")
        ->group("Google Benchmark's flags, for every probe");
  app.footer(
      "Examples:\n"
      "  fathom run                                   everything, about three minutes\n"
      "  fathom run --suite quick --out results       under a minute, into ./results\n"
      "  fathom run --suite atlas                     the memory hierarchy, level by level\n"
      "  fathom run --probe bank_conflicts            one probe\n"
      "  fathom run --benchmark_filter=1GiB           only the cases with 1GiB in their name\n"
      "  fathom run --require-gpu                     for CI: no replay where there is no GPU\n");
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .summary = "Measure the GPU and write document and report",
          .add = with_arguments(add_run, run)};
}

}  // namespace fathom
