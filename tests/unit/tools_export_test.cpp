// What `fathom export` writes of a document, by the schemas of those who read it.

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "results/document_io.h"
#include "sample_document.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tools/commands.h"

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

ExitCode code_of(const char* format, const Document& document) {
  return refusal_of([&] { exported(format, document); }).code;
}

TEST_CASE("What each format says of facts, of entries where there are none, and of a replay",
          "[export]") {
  Document entries = sample::document();
  entries.facts.clear();
  entries.entries.resize(2);
  entries.entries[0].verdict = {VerdictStatus::wrong_output, {"3 words differ"}, {}};
  entries.entries[1].verdict.status = VerdictStatus::noisy;
  Document none = entries, replay = sample::replay(), simulated = recorded_atlas();
  none.entries.clear();
  replay.facts.resize(1);
  simulated.source = Source::replay;
  std::string all;
  for (const std::string format : {"machine", "csv", "openmetrics", "bmf", "accelsim", "inductor"})
    for (const auto& [what, document] : {std::pair{"facts", sample::document()},
                                         {"entries", entries},
                                         {"nothing", none},
                                         {"a replay", replay},
                                         {"a replay of an atlas", simulated}}) {
      const bool simulator = format == "accelsim" || format == "inductor";
      if (simulator != (what == std::string("a replay of an atlas"))) continue;
      all += fmt::format("=== {} of {}\n", format, what);
      all += refusal_of([&] { all += exported(format, document); }).text + "\n";
    }
  check_golden(root + "/tests/golden/exports.txt", all);
}

TEST_CASE("An atlas fits the schemas of those who read it", "[export]") {
  const Json schema = Json::parse(file_text(root + "/tools/export/machine.schema.json"));
  const Json machine = Json::parse(exported("machine", recorded_atlas()));
  CHECK(fits(schema, machine));
  CHECK(machine.at("facts").size() == recorded_atlas().facts.size());
  const auto noisy = std::ranges::count_if(machine.at("facts"),
                                           [](const Json& fact) { return fact["noisy"] == true; });
  CHECK((noisy > 0 && noisy < std::ssize(machine.at("facts"))));
  Json lacking = machine, surprising = machine;
  lacking["facts"][0].erase("unit");
  surprising["facts"][0]["surprise"] = 1;
  for (const Json& broken : {lacking, surprising}) CHECK_FALSE(fits(schema, broken));
  const Json bmf = Json::parse(exported("bmf", recorded_atlas()));
  CHECK(fits(bmf_schema, bmf));
  CHECK(bmf.size() == with_value(recorded_atlas()));
  for (const auto& [name, measures] : bmf.items())
    for (const auto& [measure, value] : measures.items())
      CHECK((name.size() <= 1024 && measure.size() <= 64));
  CHECK(lines_with(exported("csv", recorded_atlas()), "") == recorded_atlas().facts.size() + 1);
  CHECK(lines_with(exported("openmetrics", recorded_atlas()), "fathom_noisy{") ==
        with_value(recorded_atlas()));
}

TEST_CASE("No name breaks out of its line", "[export]") {
  for (const std::string text :
       {"a\"b\\c", "a\n# EOF\nb", "a,b\"\",\"c", "\xff\x1b[2J", "a\"}] 1"}) {
    Document document = sample::document();  // with it in each place that a hostile one can choose
    document.fingerprint.gpu_name = document.fingerprint.driver = document.suite = text;
    Fact& fact = document.facts.at(0);
    fact.id = fact.method = fact.unit = text;
    CHECK(fits(bmf_schema, Json::parse(exported("bmf", document))));
    CHECK(Json::parse(exported("machine", document)).at("facts").size() == document.facts.size());
    CHECK(lines_with(exported("csv", document), "") == document.facts.size() + 1);
    const std::string metrics = exported("openmetrics", document);
    CHECK(lines_with(metrics, "") == lines_with(metrics, "# ") + lines_with(metrics, "fathom"));
    CHECK(lines_with(metrics, "# EOF") == 1);
    CHECK_THAT(metrics, !contains("\x1b"));
  }
}

TEST_CASE("What docs/export.md shows stands in the exports of the recording", "[export]") {
  std::string exports = "\n";
  for (const char* format : {"machine", "csv", "openmetrics", "bmf", "accelsim", "inductor"})
    exports += exported(format, recorded_atlas());
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
  CHECK(lines_with(exported("accelsim", recorded_atlas()), "-") == 23);  // as the page says
}

TEST_CASE("A simulator's parameter needs its facts, in a range that it can have", "[export]") {
  Document document = recorded_atlas();
  const auto fact = [&](const char* id) -> Fact& { return named(document.facts, &Fact::id, id); };
  fact("l1.latency").value.reset();
  fact("l1.latency").reason = "the case gave no value";
  fact("l2.slices").value = 95;
  fact("shared.latency").value = -1;
  const std::string text = exported("accelsim", document);
  CHECK_THAT(text, contains("# not measured: -gpgpu_l1_latency (l1.latency: the case") &&
                       contains("# not measured: -gpgpu_l2_rop_latency (l1.latency: ") &&
                       contains("# not measured: -gpgpu_n_mem (l2.slices: the figures") &&
                       contains("# not measured: -gpgpu_smem_latency (shared.latency: "));
  CHECK(lines_with(text, "-gpgpu_l1_latency") == 0);
  CHECK(lines_with(text, "-dram_latency 387") == 1);
  fact("dram.bandwidth").value = 0;
  CHECK(code_of("inductor", document) == ExitCode::incomplete);
  document = recorded_atlas();
  std::erase_if(document.facts, [](const Fact& f) { return f.id != "tlb.reach"; });
  CHECK(code_of("accelsim", document) == ExitCode::incomplete);
}

}  // namespace
}  // namespace fathom
