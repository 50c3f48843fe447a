#include "tools/export/export.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "reports/facts.h"
#include "reports/facts_table.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/names.h"
#include "results/text.h"
#include "tools/commands.h"

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

std::vector<ExportedFigure> exported_figures(const Document& document) {
  std::vector<ExportedFigure> figures;
  const std::string prefix = document.source == Source::replay ? keys::replay_prefix : "";
  const reports::Notes notes(document);
  for (const Fact& fact : document.facts)
    figures.push_back({prefix + fact.id, fact.unit, fact.better, fact.value, fact.interval,
                       static_cast<std::size_t>(fact.repeats), notes.is_noisy(fact.evidence),
                       fact.method, fact.reason});
  if (!document.facts.empty()) return figures;
  for (const Entry& entry : document.entries) {
    const Verdict& verdict = entry.verdict;
    ExportedFigure figure{prefix + entry.name, entry.metric.unit, entry.metric.better};
    figure.samples = entry.samples.size();
    figure.noisy = verdict.status == VerdictStatus::noisy;
    if (entry.metric.value && !reports::is_failure(verdict.status)) {
      figure.value = entry.metric.value;
      figure.interval = entry.interval;
    } else {
      figure.reason = verdict.reasons.empty() ? "the case gave no value" : verdict.reasons.front();
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

KnownFact known_fact(const Document& document, const std::string& id) {
  const Fingerprint& gpu = document.fingerprint;
  const auto driver = [](const auto& value) { return KnownFact{value, "the driver did not say"}; };
  if (id == "gpu.sms") return driver(gpu.sms);
  if (id == "gpu.sm_clock_max") return driver(gpu.sm_clock_max_hz);
  if (id == "gpu.memory_size") return driver(gpu.memory_bytes);
  if (id == "gpu.compute_capability") return driver(parse_number<double>(gpu.compute_capability));
  const auto fact = std::ranges::find(document.facts, id, &Fact::id);
  if (fact == document.facts.end()) return {};
  return {fact->value, clean(fact->reason), reports::Notes(document).is_noisy(fact->evidence)};
}

std::string origin_of(const Document& document) {
  const bool replay = document.source == Source::replay;
  return clean(fmt::format("{}{}, driver {}, {}, Fathom {} ({})", replay ? "REPLAY: " : "",
                           document.fingerprint.gpu_name, document.fingerprint.driver,
                           document.date, document.fathom_version, document.fathom_commit));
}

std::string quoted(const std::string& text) { return nlohmann::json(clean(text)).dump(); }

void require_facts(const Document& document, const std::string& format) {
  if (!document.facts.empty()) return;
  fail(ExitCode::incomplete,
       "{} needs facts, and a result of suite {} has none: export one of `fathom run --suite "
       "atlas`.",
       format, quotable(document.suite));
}

Command export_command() {
  return {.name = "export",
          .summary = "A result for other programs: csv, Prometheus, Accel-Sim, ...",
          .add = with_arguments(add_export, export_result)};
}

}  // namespace fathom
