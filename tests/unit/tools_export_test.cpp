// What `fathom export` writes of a document, by the schemas of those who read it.

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "results/document_io.h"
#include "sample_document.h"
#include "tests/testing.h"
#include "tools/export/export.h"

namespace fathom {
namespace {

using ExportAdapter = valijson::adapters::NlohmannJsonAdapter;
using Json = nlohmann::json;

const std::string root = FATHOM_SOURCE_DIR;

bool fits(const Json& schema, const Json& document) {
  valijson::Schema parsed;
  valijson::SchemaParser().populateSchema(ExportAdapter(schema), parsed);
  return valijson::Validator().validate(parsed, ExportAdapter(document), nullptr);
}

/// Bencher's schema, as its documentation has it.
const Json bmf_schema = Json::parse(R"({"type": "object", "patternProperties": {".+": {
  "type": "object", "patternProperties": {".+": {"type": "object", "required": ["value"],
  "properties": {"value": {"type": "number"}, "lower_value": {"type": "number"},
  "upper_value": {"type": "number"}}}}}}})");

const Document& recorded_atlas() {
  static const Document document = read_document(root + "/recordings/h200/atlas/result.json");
  return document;
}

std::size_t with_value(const Document& document) {
  return std::ranges::count_if(document.facts, [](const Fact& fact) { return !!fact.value; });
}

std::size_t lines_with(const std::string& text, const std::string& start) {
  return std::ranges::count_if(lines_of(text), [&](const auto& s) { return s.starts_with(start); });
}

ExitCode code_of(std::string (*format)(const Document&), const Document& document) {
  return refusal_of([&] { format(document); }).code;
}

TEST_CASE("The machine's facts fit the schema, each with what the document says", "[export]") {
  const Json schema = Json::parse(file_text(root + "/tools/export/machine.schema.json"));
  const Json machine = Json::parse(machine_export(recorded_atlas()));
  CHECK(fits(schema, machine));
  REQUIRE(machine.at("facts").size() == recorded_atlas().facts.size());
  for (std::size_t i = 0; i < recorded_atlas().facts.size(); ++i) {
    const Fact& fact = recorded_atlas().facts[i];
    const Json& exported = machine.at("facts").at(i);
    CHECK(exported.at("id") == fact.id);
    CHECK(exported.at("value").is_null() == !fact.value);
    if (fact.value) CHECK(exported.at("value") == *fact.value);
    CHECK(exported.at("reason") == fact.reason);
    if (fact.interval) CHECK(exported.at("interval").at("high") == fact.interval->high);
  }
  CHECK(machine.at("gpu").at("sms") == 132);
  CHECK(machine.at("date") == recorded_atlas().date);
  const auto noisy = std::ranges::count_if(machine.at("facts"),
                                           [](const Json& fact) { return fact["noisy"] == true; });
  CHECK((noisy > 0 && noisy < std::ssize(machine.at("facts"))));
  Json lacking = machine, surprising = machine;
  lacking["facts"][0].erase("unit");
  surprising["facts"][0]["surprise"] = 1;
  for (const Json& broken : {lacking, surprising}) CHECK_FALSE(fits(schema, broken));
}

TEST_CASE("Bencher's schema takes every fact with a value", "[export]") {
  const Json bmf = Json::parse(bmf_export(recorded_atlas()));
  CHECK(fits(bmf_schema, bmf));
  CHECK(bmf.size() == with_value(recorded_atlas()));
  const Json& latency = bmf.at("l1.latency").at("cycles, lower is better");
  CHECK(latency.at("value") == 32.01611328125);
  CHECK(latency.at("lower_value") <= latency.at("value"));
  CHECK_FALSE(bmf.contains("tlb.reach"));
  for (const auto& [name, measures] : bmf.items())
    for (const auto& [measure, value] : measures.items())
      CHECK((name.size() <= 1024 && measure.size() <= 64));
}

TEST_CASE("A missing fact has its reason as CSV and is left out as OpenMetrics", "[export]") {
  const std::string csv = csv_export(recorded_atlas());
  CHECK(lines_with(csv, "") == recorded_atlas().facts.size() + 1);
  CHECK_THAT(csv, StartsWith("name,unit,better,value,low,high,confidence,samples,noisy,"));
  CHECK_THAT(csv, contains("\ntlb.reach,B,higher,,,,,0,false,NVIDIA H200,"));
  const std::string metrics = openmetrics_export(recorded_atlas());
  CHECK(lines_with(metrics, "fathom_noisy{") == with_value(recorded_atlas()));
  CHECK_THAT(metrics, contains("\nfathom_cycles{name=\"l1.latency\",better=\"lower\",") &&
                          contains("\nfathom_bytes_per_second{name=\"dram.bandwidth\"") &&
                          !contains("tlb.reach"));
}

TEST_CASE("Without facts the lists have entries, and the others nothing", "[export]") {
  Document document = sample::document();
  document.facts.clear();
  for (Entry& entry : document.entries) entry.verdict.status = VerdictStatus::ok;
  document.entries.at(0).verdict = {VerdictStatus::wrong_output, {"3 words differ"}, {}};
  const std::string wrong = document.entries.at(0).name;
  CHECK(lines_with(csv_export(document), "") == document.entries.size() + 1);
  CHECK_THAT(csv_export(document), contains("3 words differ"));
  const Json bmf = Json::parse(bmf_export(document));
  CHECK(bmf.size() >= 2);
  CHECK_FALSE(bmf.contains(wrong));
  CHECK(bmf.contains(document.entries.at(1).name));
  for (const auto format : {machine_export, accelsim_export, inductor_export})
    CHECK(code_of(format, document) == ExitCode::incomplete);
  document.entries.clear();
  CHECK(code_of(bmf_export, document) == ExitCode::incomplete);
  CHECK(code_of(openmetrics_export, document) == ExitCode::incomplete);
}

TEST_CASE("A replay says so in every format", "[export]") {
  Document document = recorded_atlas();
  document.source = Source::replay;
  for (const auto text : {accelsim_export, inductor_export})
    CHECK_THAT(text(document), StartsWith("# REPLAY: NVIDIA H200"));
  CHECK(Json::parse(machine_export(document)).at("source") == "replay");
  CHECK(Json::parse(bmf_export(document)).contains("REPLAY/l1.latency"));
  CHECK_THAT(csv_export(document), contains("\nREPLAY/l1.latency,"));
  CHECK_THAT(openmetrics_export(document),
             contains("{name=\"REPLAY/l1.latency\"") && contains("source=\"replay\""));
}

TEST_CASE("No name breaks out of its line", "[export]") {
  for (const std::string text :
       {"a\"b\\c", "a\n# EOF\nb", "a,b\"\",\"c", "\xff\x1b[2J", "a\"}] 1"}) {
    Document document = sample::document();  // with it in each place that a hostile one can choose
    document.fingerprint.gpu_name = document.fingerprint.driver = document.suite = text;
    Fact& fact = document.facts.at(0);
    fact.id = fact.method = fact.unit = text;
    CHECK(fits(bmf_schema, Json::parse(bmf_export(document))));
    CHECK(Json::parse(machine_export(document)).at("facts").size() == document.facts.size());
    CHECK(lines_with(csv_export(document), "") == document.facts.size() + 1);
    const std::string metrics = openmetrics_export(document);
    CHECK(lines_with(metrics, "") == lines_with(metrics, "# ") + lines_with(metrics, "fathom"));
    CHECK(lines_with(metrics, "# EOF") == 1);
    CHECK_THAT(metrics, !contains("\x1b"));
  }
}

TEST_CASE("What docs/export.md shows stands in the exports of the recording", "[export]") {
  std::string exports = "\n";
  for (const auto text : {machine_export, csv_export, openmetrics_export, bmf_export,
                          accelsim_export, inductor_export})
    exports += text(recorded_atlas());
  bool shown = false;
  std::size_t lines = 0, parameters = 0;
  for (const std::string& line : lines_of(file_text(root + "/docs/export.md"))) {
    if (line == "```") shown = !shown;
    if (shown && line != "```") {
      CHECK_THAT(exports, contains("\n" + line + "\n"));
      ++lines;
    }
    if (!line.starts_with("| `-")) continue;
    const auto name = line.find('`') + 1, name_end = line.find('`', name);
    const auto value = line.find("| ", name_end) + 2;
    CHECK_THAT(exports, contains("\n" + line.substr(name, name_end - name) + " " +
                                 line.substr(value, line.find(" |", value) - value) + "\n"));
    ++parameters;
  }
  CHECK(lines == 5);
  CHECK(parameters == 10);
  CHECK(lines_with(accelsim_export(recorded_atlas()), "-") == 23);  // as the page says
}

TEST_CASE("A simulator's parameter needs its facts, in a range that it can have", "[export]") {
  Document document = recorded_atlas();
  const auto fact = [&](const char* id) -> Fact& { return named(document.facts, &Fact::id, id); };
  fact("l1.latency").value.reset();
  fact("l1.latency").reason = "the case gave no value";
  fact("l2.slices").value = 95;
  fact("shared.latency").value = -1;
  const std::string text = accelsim_export(document);
  CHECK_THAT(text, contains("# not measured: -gpgpu_l1_latency (l1.latency: the case") &&
                       contains("# not measured: -gpgpu_l2_rop_latency (l1.latency: ") &&
                       contains("# not measured: -gpgpu_n_mem (l2.slices: the figures") &&
                       contains("# not measured: -gpgpu_smem_latency (shared.latency: "));
  CHECK(lines_with(text, "-gpgpu_l1_latency") == 0);
  CHECK(lines_with(text, "-dram_latency 387") == 1);
  fact("dram.bandwidth").value = 0;
  CHECK(code_of(inductor_export, document) == ExitCode::incomplete);
  document = recorded_atlas();
  std::erase_if(document.facts, [](const Fact& f) { return f.id != "tlb.reach"; });
  CHECK(code_of(accelsim_export, document) == ExitCode::incomplete);
}

}  // namespace
}  // namespace fathom
