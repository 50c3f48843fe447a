// `fathom export`, and the formats that list figures: machine, csv, openmetrics, bmf.

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "reports/sections.h"
#include "results/document_io.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/commands.h"

namespace fathom {
namespace {

/// A fact, or an entry as one, as other programs take it.
struct ExportedFigure {
  Fact fact;  ///< its id is "REPLAY/..." of a replay
  bool noisy = false;
};

/// The document's facts; its entries where it states no fact, as suites other than the atlas do.
/// An entry whose output is wrong, or that beats its bound, has no value here.
std::vector<ExportedFigure> exported_figures(const Document& document) {
  std::vector<ExportedFigure> figures;
  const reports::Notes notes(document);
  for (const Fact& fact : document.facts) figures.push_back({fact, notes.is_noisy(fact.evidence)});
  if (figures.empty())
    for (const Entry& entry : document.entries) {
      const Verdict& verdict = entry.verdict;
      Fact fact;
      fact.id = entry.name;
      fact.unit = entry.metric.unit;
      fact.better = entry.metric.better;
      fact.repeats = static_cast<int>(entry.samples.size());
      if (entry.metric.value && !reports::is_failure(verdict.status)) {
        fact.value = entry.metric.value;
        fact.interval = entry.interval;
      } else {
        fact.reason = verdict.reasons.empty() ? "the case gave no value" : verdict.reasons.front();
      }
      figures.push_back({fact, verdict.status == VerdictStatus::noisy});
    }
  if (document.source == Source::replay)
    for (ExportedFigure& figure : figures) figure.fact.id.insert(0, replay_prefix);
  return figures;
}

using ExportJson = nlohmann::ordered_json;

std::string json_text(const ExportJson& json) {
  return json.dump(1, ' ', false, ExportJson::error_handler_t::replace) + "\n";
}

std::vector<ExportedFigure> figures_with_values(const Document& document) {
  std::vector<ExportedFigure> figures = exported_figures(document);
  std::set<std::string> names;  // repetitions of a case share one, and the readers take one value
  std::erase_if(figures, [&names](const ExportedFigure& figure) {
    return !figure.fact.value || !names.insert(figure.fact.id).second;
  });
  if (figures.empty())
    throw Error(ExitCode::incomplete, "The result has no figure with a value to export.");
  return figures;
}

/// A field of RFC 4180: what a reader could take for its own is quoted.
std::string csv_field(const std::string& text) {
  const std::string field = clean(text);
  if (field.find_first_of(",\"") == std::string::npos) return field;
  return fmt::format("{}", fmt::streamed(std::quoted(field, '"', '"')));
}

/// "B/s" is bytes_per_second: Prometheus wants base units in full, at the end of a name.
std::string unit_in_words(const std::string& unit) {
  static const std::map<std::string, std::string> words{
      {"B", "bytes"},    {"s", "seconds"}, {"W", "watts"},      {"J", "joules"},
      {"clk", "cycles"}, {"op", "ops"},    {"Hz", "hertz"},     {"%", "percent"},
      {"FLOP", "flops"}, {"C", "celsius"}, {"cycles", "cycles"}};
  std::istringstream parts(unit);
  std::string text;
  for (std::string part; std::getline(parts, part, '/');) {
    if (const auto word = words.find(part); word != words.end()) {
      part = word->second;
      if (!text.empty() && part.ends_with('s')) part.pop_back();  // "per_second"
    }
    for (char& c : part)
      c = std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '_';
    text += (text.empty() ? "" : "_per_") + part;
  }
  return text.empty() ? "ratio" : text;
}

std::string machine_export(const Document& document) {
  const ExportJson whole = to_json(document);
  const ExportJson& run = whole.at("context").at("fathom");
  ExportJson facts = whole.at("fathom").at("facts");
  const reports::Notes notes(document);
  for (ExportJson& fact : facts) {
    fact["noisy"] = notes.is_noisy(fact["evidence"]);
    fact.erase("counters");  // the result document backs a fact; who reads this needs the fact
    fact.erase("evidence");
  }
  return json_text({{"fathom_machine", 1},
                    {"date", document.date},
                    {"source", to_string(document.source)},
                    {"suite", document.suite},
                    {"fathom_version", document.fathom_version},
                    {"fathom_commit", document.fathom_commit},
                    {"gpu", run.at("fingerprint")},
                    {"bounds", run.at("bounds")},
                    {"facts", facts}});
}

std::string csv_export(const Document& document) {
  std::string text =
      "name,unit,better,value,low,high,confidence,samples,noisy,gpu,date,method,reason\n";
  const std::string run = csv_field(document.fingerprint.gpu_name) + "," + csv_field(document.date);
  for (const auto& [fact, noisy] : exported_figures(document)) {
    const auto& interval = fact.interval;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{}\n", csv_field(fact.id), csv_field(fact.unit),
        to_string(fact.better), fact.value ? fmt::format("{}", *fact.value) : "",
        interval ? fmt::format("{},{},{}", interval->low, interval->high, interval->confidence)
                 : ",,",
        fact.repeats, noisy, run, csv_field(fact.method), csv_field(fact.reason));
  }
  return text;
}

std::string openmetrics_export(const Document& document) {
  // Lines of one name stand together, and what it is comes first.
  std::map<std::string, std::string> families;
  const auto add = [&families](const std::string& family, const std::string& unit, const char* help,
                               const std::string& labels, double value) {
    const std::string name = unit.empty() ? family : family + "_" + unit;
    std::string& text = families[name];
    if (text.empty()) {
      text = fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
      if (!unit.empty()) text += fmt::format("# UNIT {} {}\n", name, unit);
    }
    text += fmt::format("{}{{{}}} {}\n", name, labels, value);
  };
  const Fingerprint& gpu = document.fingerprint;
  const std::string card =
      fmt::format("gpu={},gpu_uuid_hash={}", quoted(gpu.gpu_name), quoted(gpu.gpu_uuid_hash));
  const std::string run = fmt::format("{},suite={}", card, quoted(document.suite));
  add("fathom_run_info", "", "What measured, and with which driver.",
      fmt::format("{},driver={},version={},commit={},source=\"{}\"", run, quoted(gpu.driver),
                  quoted(document.fathom_version), quoted(document.fathom_commit),
                  to_string(document.source)),
      1);
  if (const auto time = parse_utc_time(document.date))
    add("fathom_run_timestamp", "seconds", "When it was measured, since 1970.", run,
        static_cast<double>(time->time_since_epoch().count()));
  for (const auto& [fact, noisy] : figures_with_values(document)) {
    const std::string unit = unit_in_words(fact.unit);
    const std::string labels =
        fmt::format("name={},better=\"{}\",{}", quoted(fact.id), to_string(fact.better), card);
    add("fathom", unit, "The measured figure.", labels, *fact.value);
    if (fact.interval) {
      add("fathom_low", unit, "The low end of its interval.", labels, fact.interval->low);
      add("fathom_high", unit, "The high end of its interval.", labels, fact.interval->high);
    }
    add("fathom_noisy", "", "1 where the figure is noisy.", labels, noisy);
  }
  std::string all;
  for (const auto& [name, lines] : families) all += lines;
  return all + "# EOF\n";
}

std::string bmf_export(const Document& document) {
  ExportJson json = ExportJson::object();
  for (const auto& [fact, noisy] : figures_with_values(document)) {
    // A measure of Bencher's has one unit and one direction, so its name says both.
    const std::string measure = fmt::format(
        "{}, {} is better", fact.unit.empty() ? "ratio" : clean(fact.unit), to_string(fact.better));
    ExportJson& metric = json[clean(fact.id)][measure];
    metric["value"] = *fact.value;
    if (fact.interval) {
      metric["lower_value"] = fact.interval->low;
      metric["upper_value"] = fact.interval->high;
    }
  }
  return json_text(json);
}

constexpr struct {
  const char* name;
  std::string (*text)(const Document&);
  bool needs_facts;
} formats[] = {{"machine", machine_export, true},          {"csv", csv_export, false},
               {"openmetrics", openmetrics_export, false}, {"bmf", bmf_export, false},
               {"accelsim", accelsim_export, true},        {"inductor", inductor_export, true}};

}  // namespace

std::string quoted(const std::string& text) { return nlohmann::json(clean(text)).dump(); }

std::string exported(const std::string& format, const Document& document) {
  const auto& found = *std::ranges::find(formats, format, [](auto& known) { return known.name; });
  if (found.needs_facts && document.facts.empty())
    fail(ExitCode::incomplete,
         "{} needs facts, and a result of suite {} has none: export one of `fathom run --suite "
         "atlas`.",
         format, quotable(document.suite));
  return found.text(document);
}

// --- the command ---------------------------------------------------------------------------------

namespace {

struct ExportArguments {
  std::string format;
  std::filesystem::path result;  ///< result document
  std::filesystem::path out;     ///< file to write; empty: standard output
};

ExitCode export_result(const ExportArguments& options) {
  require_distinct({{"RESULT", options.result}}, {{"--out", options.out}});
  std::optional<OutputFile> out = writable_output(options.out);
  const std::string text = exported(options.format, read_document(options.result));
  out ? out->write(text) : print_out(text);
  return ExitCode::ok;
}

void add_export(CLI::App& app, ExportArguments& options) {
  std::vector<std::string> names;
  for (const auto& format : formats) names.emplace_back(format.name);
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
