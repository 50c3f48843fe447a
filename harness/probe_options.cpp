#include "harness/probe_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>

#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"

namespace fathom {
namespace {

/// The value of text that has been checked.
OptionValue value_of(const ProbeOption& option, const std::string& text) {
  using Kind = ProbeOption::Kind;
  if (option.kind == Kind::text) return text;
  // Where std::stod would throw for what double holds with fewer bits.
  if (option.kind == Kind::number) return std::strtod(text.c_str(), nullptr);
  return std::int64_t{std::stoll(text)};
}

void add_own_option(CLI::App& app, const ProbeOption& option, OptionValues& values) {
  using Kind = ProbeOption::Kind;
  const std::string flag = "--" + option.name;
  const auto take = [&](const std::string& text) { values[option.name] = value_of(option, text); };
  if (option.kind == Kind::flag) {
    app.add_flag_callback(
        flag, [take] { take("1"); }, option.description);
    return;
  }
  std::string description = option.description;
  if (option.kind == Kind::whole_number && !option.optional)
    description += fmt::format(" (default: {} quick, {} default)", option.quick, option.standard);
  CLI::Option* added = app.add_option_function<std::string>(flag, take, description);
  if (option.kind == Kind::whole_number) {
    added->type_name("N")->check(whole_number(static_cast<std::uint64_t>(option.least),
                                              static_cast<std::uint64_t>(option.most)));
  } else if (option.kind == Kind::number) {
    added->type_name("NUMBER")->check(number());
  } else {
    added->type_name(option.value_name);
  }
}

}  // namespace

std::optional<ProbeOptions> parse_probe_options(int argc, char** argv, const Probe& probe) {
  ProbeOptions options;
  options.benchmark_arguments.push_back(argv[0]);
  std::vector<std::string> own;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--benchmark_") || argument.starts_with("--v=")) {
      options.list_only |= argument.starts_with("--benchmark_list_tests") &&
                           !argument.ends_with("=false") && !argument.ends_with("=0");
      options.benchmark_arguments.push_back(argv[i]);
    } else if (probe.child && argument == "--child") {
      options.child = true;  // in no help
    } else {
      own.push_back(argument);
    }
  }

  CLI::App app(probe.question, probe.program);
  app.footer(fmt::format(
      "{2}Google Benchmark's own flags work too (--benchmark_filter=REGEX, "
      "--benchmark_list_tests,\n"
      "--benchmark_repetitions=N, --benchmark_format=console|json|csv, --benchmark_out=FILE).\n\n"
      "Examples:\n"
      "  {0} --suite quick --out result.json\n"
      "  {0} {1}\n",
      probe.program, probe.example, probe.more_help));
  app.set_version_flag("--version", std::string("fathom ") + version() + " (" + commit() + ")");
  std::string suite = "default";
  word_flag(app, "--suite", suite, "Size of the sweep: quick or default", {"quick", "default"});
  path_flag(app, "--out", options.out, "Write the result document (JSON) to this file");
  checked_flag(app, "--device", options.device, "CUDA device ordinal", ordinal(), "N")
      ->capture_default_str();
  app.add_flag_callback(
      "--no-counters", [&] { options.counters = false; }, "Do not collect hardware counters");
  app.add_flag("--wait", options.wait, "Wait if another Fathom holds the GPU");
  checked_flag(app, "--seed", options.seed, "Seed of the random data", whole_number(), "N")
      ->capture_default_str();
  checked_flag(app, "--time-limit", options.time_limit_s,
               "Seconds of sampling per case at most (default: 0.5 quick, 1 default)", seconds(),
               "SECONDS");
  checked_flag(app, "--progress-fd", options.progress_fd,
               "Report progress to this file descriptor, one line per case", ordinal(), "N");
  checked_flag(
      app, "--start-fd", options.start_fd,
      "Write an empty line to this socket once ready, begin when a byte comes back, which is "
      "the number of processes still held like this on the same GPU",
      ordinal(), "N");
  for (const ProbeOption& option : probe.options) add_own_option(app, option, options.own);
  try {
    std::ranges::reverse(own);  // the order CLI11 wants
    app.parse(own);
  } catch (const CLI::Success& wanted) {
    app.exit(wanted);  // prints help or version
    return std::nullopt;
  } catch (const CLI::ExtrasError&) {
    const std::string word = app.remaining().front();
    const std::string flag = word.substr(0, word.find('='));
    fail(ExitCode::bad_input, "{0} does not know {1}.{2} See {0} --help.", probe.program, flag,
         did_you_mean_flag(app, flag));
  } catch (const CLI::ParseError& error) {
    fail(ExitCode::bad_input, "{}. See {} --help.", complaint(error), probe.program);
  }
  if (suite == "quick") options.suite = Suite::quick;
  for (const ProbeOption& option : probe.options)
    if (option.kind == ProbeOption::Kind::whole_number && !option.optional)
      options.own.try_emplace(option.name,
                              options.suite == Suite::quick ? option.quick : option.standard);
  return options;
}

}  // namespace fathom
