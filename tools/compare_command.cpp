#include <fstream>
#include <string>

#include "results/document_io.h"
#include "tools/commands.h"
#include "tools/compare_files.h"

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

ExitCode compare(const CompareArguments& options) {
  if (is_of_another_tool(options.a) || is_of_another_tool(options.b)) {
    std::vector<std::string> words{"fathom", "compare", options.a, options.b};
    for (const auto& [flag, file] :
         {std::pair{"--markdown", options.markdown}, {"--json", options.json}})
      if (!file.empty()) words.insert(words.end(), {flag, file});
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    argv.push_back(nullptr);
    hand_over("fathom-gate", "compare", argv.data());
  }
  return tell_comparison(options, [&] {
    return reports::compare(read_document(options.a), read_document(options.b), options.a.string(),
                            options.b.string());
  });
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = compare_summary,
          .add = with_arguments(add_compare_flags, compare)};
}

}  // namespace fathom
