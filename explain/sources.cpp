#include "explain/sources.h"

#include <filesystem>
#include <map>

#include "results/atomic_file.h"
#include "results/clean_text.h"
#include "results/error.h"
#include "results/strict_json.h"

namespace fathom::explain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = 1u << 20;

bool of_toolkit(const fs::path& file) {
  std::error_code none;
  for (fs::path folder = file.parent_path(); folder != folder.root_path();
       folder = folder.parent_path())
    if (fs::exists(folder / "cuda_runtime.h", none)) return true;
  return false;
}

std::string clean_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find_first_of("\n\t");
    std::string_view part = text.substr(0, end);
    const bool last = end == text.npos;
    if (!last && text[end] == '\n' && part.ends_with('\r')) part.remove_suffix(1);
    out += clean(part);
    if (last) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<SourceText> sources_of(const Explanation& explanation) {
  std::map<std::string, bool> wanted;  // and whether a line with a fault names it
  for (const KernelCost& kernel : explanation.kernels) {
    for (const LineCost& line : kernel.lines)
      if (line.source) wanted[line.source->file] |= !line.faults.empty();
    for (const Waiting& waiting : kernel.measured.waits)
      if (waiting.source) wanted.try_emplace(waiting.source->file);
  }
  std::vector<SourceText> sources;
  for (const auto& [file, faulty] : wanted) {
    std::error_code none;
    // A device or a pipe would be waited for.
    if (!fs::is_regular_file(file, none) || (!faulty && of_toolkit(file))) continue;
    try {
      const std::string text = read_file_up_to(file, most_bytes);
      sources.push_back({file, clean_lines(without_byte_order_mark(text))});
    } catch (const Error&) {
      // Too large, or not to be read by this user: the answer does without.
    }
  }
  return sources;
}

}  // namespace fathom::explain
