#include <fmt/format.h>

#include <optional>

#include "reports/compare.h"
#include "results/document_io.h"
#include "results/output_file.h"
#include "tools/commands.h"

namespace fathom {

ExitCode compare_command(const CompareArguments& options) {
  std::vector<NamedFile> outputs;
  if (!options.markdown.empty()) outputs.push_back({"--markdown", options.markdown});
  if (!options.json.empty()) outputs.push_back({"--json", options.json});
  require_distinct({{"A", options.a}, {"B", options.b}}, outputs);
  std::optional<OutputFile> markdown, json;
  if (!options.markdown.empty()) markdown.emplace(options.markdown).require_writable();
  if (!options.json.empty()) json.emplace(options.json).require_writable();
  const reports::Comparison comparison = reports::compare(
      read_document(options.a), read_document(options.b), options.a.string(), options.b.string());
  fmt::print("{}", reports::comparison_text(comparison));
  if (markdown) markdown->write(reports::comparison_markdown(comparison));
  if (json) json->write(reports::comparison_json(comparison));
  return ExitCode::ok;
}

}  // namespace fathom
