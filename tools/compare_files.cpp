#include "tools/compare_files.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "results/atomic_file.h"
#include "results/flag_checks.h"

namespace fathom {

void add_compare_flags(CLI::App& app, CompareArguments& arguments) {
  app.add_option("A", arguments.a, "Result document of a run, or another tool's file")
      ->check(not_empty())
      ->required();
  app.add_option("B", arguments.b, "Another one")->check(not_empty())->required();
  path_flag(app, "--markdown", arguments.markdown, "Write it as Markdown into this file");
  path_flag(app, "--json", arguments.json, "Write every figure that both have into this file");
  app.footer(
      "The two may come from any GPUs, drivers, commits or dates, and from any tool that\n"
      "docs/gate.md lists, both from the same. The exit code is 0 whatever differs, 3 for files\n"
      "of two tools, and 5 if they share no figure; `fathom check` decides about a regression.\n\n"
      "Examples:\n"
      "  fathom compare before/result.json after/result.json\n"
      "  fathom compare h100/result.json h200/result.json --markdown h100-h200.md\n"
      "  fathom compare hyperfine-before.json hyperfine-after.json\n");
}

ExitCode tell_comparison(const CompareArguments& arguments,
                         const std::function<reports::Comparison()>& compare) {
  require_distinct({{"A", arguments.a}, {"B", arguments.b}},
                   {{"--markdown", arguments.markdown}, {"--json", arguments.json}});
  std::optional<OutputFile> markdown = writable_output(arguments.markdown);
  std::optional<OutputFile> json = writable_output(arguments.json);
  const reports::Comparison comparison = compare();
  fmt::print("{}", reports::comparison_text(comparison));
  if (markdown) markdown->write(reports::comparison_markdown(comparison));
  if (json) json->write(reports::comparison_json(comparison));
  return ExitCode::ok;
}

}  // namespace fathom
