#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <optional>

#include "results/document_io.h"
#include "results/flag_checks.h"
#include "results/output_file.h"
#include "results/standard_streams.h"
#include "tools/commands.h"
#include "tools/export/export.h"

namespace fathom {
namespace {

struct ExportFormat {
  const char* name;
  std::string (*text)(const Document&);
};
constexpr ExportFormat formats[] = {
    {"machine", machine_export}, {"csv", csv_export},           {"openmetrics", openmetrics_export},
    {"bmf", bmf_export},         {"accelsim", accelsim_export}, {"inductor", inductor_export}};

struct ExportArguments {
  std::string format;
  std::filesystem::path result;  ///< result document
  std::filesystem::path out;     ///< file to write; empty: standard output
};

ExitCode export_result(const ExportArguments& options) {
  require_distinct({{"RESULT", options.result}}, {{"--out", options.out}});
  std::optional<OutputFile> out = writable_output(options.out);
  const auto format = std::ranges::find(formats, options.format, &ExportFormat::name);
  const std::string text = format->text(read_document(options.result));
  if (out)
    out->write(text);
  else
    print_out(text);
  return ExitCode::ok;
}

void add_export(CLI::App& app, ExportArguments& options) {
  std::vector<std::string> names;
  for (const ExportFormat& format : formats) names.emplace_back(format.name);
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

}  // namespace

Command export_command() {
  return {.name = "export",
          .summary = "A result for other programs: csv, Prometheus, Accel-Sim, ...",
          .add = with_arguments(add_export, export_result)};
}

}  // namespace fathom
