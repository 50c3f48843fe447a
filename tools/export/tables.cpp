// The formats that list figures: machine, csv, openmetrics, bmf.

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cctype>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "results/document_io.h"
#include "results/error.h"
#include "results/names.h"
#include "results/text.h"
#include "tools/export/export.h"

namespace fathom {
namespace {

using ExportJson = nlohmann::ordered_json;

std::string json_text(const ExportJson& json) {
  return json.dump(1, ' ', false, ExportJson::error_handler_t::replace) + "\n";
}

std::vector<ExportedFigure> figures_with_values(const Document& document) {
  std::vector<ExportedFigure> figures = exported_figures(document);
  std::set<std::string> names;  // repetitions of a case share one, and the readers take one value
  std::erase_if(figures, [&names](const ExportedFigure& figure) {
    return !figure.value || !names.insert(figure.name).second;
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
  struct Word {
    const char *one, *many;
  };
  static const std::map<std::string, Word> words{
      {"B", {"byte", "bytes"}},    {"s", {"second", "seconds"}}, {"W", {"watt", "watts"}},
      {"J", {"joule", "joules"}},  {"clk", {"cycle", "cycles"}}, {"cycles", {"cycle", "cycles"}},
      {"Hz", {"hertz", "hertz"}},  {"op", {"op", "ops"}},        {"%", {"percent", "percent"}},
      {"FLOP", {"flop", "flops"}}, {"C", {"celsius", "celsius"}}};
  std::istringstream parts(unit);
  std::string text;
  for (std::string part; std::getline(parts, part, '/');) {
    if (const auto word = words.find(part); word != words.end())
      part = text.empty() ? word->second.many : word->second.one;
    for (char& c : part)
      c = std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '_';
    text += (text.empty() ? "" : "_per_") + part;
  }
  return text.empty() ? "ratio" : text;
}

}  // namespace

std::string machine_export(const Document& document) {
  require_facts(document, "machine");
  const ExportJson whole = to_json(document);
  const ExportJson& run = whole.at("context").at(keys::own);
  ExportJson facts = whole.at(keys::own).at("facts");
  const std::vector<ExportedFigure> figures = exported_figures(document);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    facts[i].erase("counters");  // the result document backs a fact; who reads this needs the fact
    facts[i].erase("evidence");
    facts[i]["noisy"] = figures[i].noisy;
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
  for (const ExportedFigure& figure : exported_figures(document)) {
    const auto& interval = figure.interval;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{}\n", csv_field(figure.name), csv_field(figure.unit),
        to_string(figure.better), figure.value ? fmt::format("{}", *figure.value) : "",
        interval ? fmt::format("{},{},{}", interval->low, interval->high, interval->confidence)
                 : ",,",
        figure.samples, figure.noisy, run, csv_field(figure.method), csv_field(figure.reason));
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
  for (const ExportedFigure& figure : figures_with_values(document)) {
    const std::string unit = unit_in_words(figure.unit);
    const std::string labels = fmt::format("name={},better=\"{}\",{}", quoted(figure.name),
                                           to_string(figure.better), card);
    add("fathom", unit, "The measured figure.", labels, *figure.value);
    if (figure.interval) {
      add("fathom_low", unit, "The low end of its interval.", labels, figure.interval->low);
      add("fathom_high", unit, "The high end of its interval.", labels, figure.interval->high);
    }
    add("fathom_noisy", "", "1 where the figure is noisy.", labels, figure.noisy);
  }
  std::string all;
  for (const auto& [name, lines] : families) all += lines;
  return all + "# EOF\n";
}

std::string bmf_export(const Document& document) {
  ExportJson json = ExportJson::object();
  for (const ExportedFigure& figure : figures_with_values(document)) {
    // A measure of Bencher's has one unit and one direction, so its name says both.
    const std::string measure =
        fmt::format("{}, {} is better", figure.unit.empty() ? "ratio" : clean(figure.unit),
                    to_string(figure.better));
    ExportJson& metric = json[clean(figure.name)][measure];
    metric["value"] = *figure.value;
    if (figure.interval) {
      metric["lower_value"] = figure.interval->low;
      metric["upper_value"] = figure.interval->high;
    }
  }
  return json_text(json);
}

}  // namespace fathom
