#include "tools/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "results/document_io.h"
#include "results/files.h"
#include "results/flag_checks.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// Whether fathom-gate reads it: Criterion's folder, a CSV, or JSON that begins as another tool's
/// and not as ours. Anything else is for the reader of documents to read or refuse.
bool is_of_another_tool(const fs::path& file) {
  std::error_code unknown;
  if (fs::is_directory(file, unknown)) return true;
  if (!fs::is_regular_file(file, unknown)) return false;
  constexpr std::size_t enough = std::size_t{64} << 10;
  std::string text(enough, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(enough));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (text.find("name,unit,better,") <= 3) return true;  // after a byte order mark
  return !has("\"fathom\":") && (has("\"benchmarks\"") || has("\"results\""));
}

/// Fathom's documents; results of other tools are handed over to fathom-gate.
ExitCode compare(const CompareArguments& options) {
  if (is_of_another_tool(options.a) || is_of_another_tool(options.b))
    hand_over("fathom-gate", "compare");
  return tell_comparison(options, [&] {
    return reports::compare(read_document(options.a), read_document(options.b), options.a.string(),
                            options.b.string());
  });
}

void add_flags(CLI::App& app, CompareArguments& arguments) {
  path_flag(app, "A", arguments.a, "Result document of a run, or another tool's file", "TEXT")
      ->required();
  path_flag(app, "B", arguments.b, "Another one", "TEXT")->required();
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

}  // namespace

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

Command compare_command(ExitCode (*compare)(const CompareArguments&)) {
  return {.name = "compare",
          .summary = "Two results side by side, of any GPUs",
          .add = with_arguments(add_flags, compare)};
}

Command compare_command() { return compare_command(compare); }

}  // namespace fathom
