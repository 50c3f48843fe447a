#include <fmt/format.h>

#include "reports/compare.h"
#include "results/atomic_file.h"
#include "results/document_io.h"
#include "results/error.h"
#include "tools/commands.h"

namespace fathom {

ExitCode compare_command(const CompareArguments& options) {
  for (const auto& path : {options.markdown, options.json}) {
    if (path.empty()) continue;
    std::error_code absent;
    for (const auto& input : {options.a, options.b})
      if (std::filesystem::equivalent(path, input, absent))
        throw Error(ExitCode::bad_input,
                    fmt::format("{} is one of the documents: choose another file to write.",
                                path.string()));
    require_writable_atomically(path);
  }
  const reports::Comparison comparison = reports::compare(
      read_document(options.a), read_document(options.b), options.a.string(), options.b.string());
  fmt::print("{}", reports::comparison_text(comparison));
  if (!options.markdown.empty())
    write_file_atomically(options.markdown, reports::comparison_markdown(comparison));
  if (!options.json.empty())
    write_file_atomically(options.json, reports::comparison_json(comparison));
  return ExitCode::ok;
}

}  // namespace fathom
