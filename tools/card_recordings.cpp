#include "tools/card_recordings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "reports/page/page.h"
#include "reports/report.h"
#include "results/atomic_file.h"
#include "results/clean_text.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/standard_streams.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {

namespace fs = std::filesystem;

RecordingPlaces recording_places(const fs::path& recordings, const Document& document) {
  // A suite's name becomes a folder's: only those that are plain words have recordings.
  const std::string suite = gpu_slug(document.suite);
  const fs::path model = recordings / gpu_slug(document.fingerprint.gpu_name);
  return {suite == "default" ? model : model / suite, model / "cards" / suite};
}

fs::path document_in(const fs::path& recording) {
  std::error_code none;
  const fs::path plain = recording / "result.json", packed = recording / "result.json.gz";
  return fs::exists(plain, none) ? plain : fs::exists(packed, none) ? packed : fs::path();
}

std::vector<fs::path> recording_files(const RecordingPlaces& places) {
  std::vector<fs::path> files{document_in(places.first)};
  std::error_code none;
  for (fs::directory_iterator at(places.cards, none), end; !none && at != end; at.increment(none))
    files.push_back(document_in(at->path()));
  std::erase(files, fs::path());
  std::ranges::sort(files);
  return files;
}

std::optional<reports::CardCheck> card_of(const Document& document, const fs::path& recordings) {
  if (document.source == Source::replay) return std::nullopt;
  const fs::path own = executable_folder() / "../share/fathom/recordings";
  const RecordingPlaces places = recording_places(recordings.empty() ? own : recordings, document);
  std::vector<Document> recorded;
  for (const fs::path& file : recording_files(places)) {
    try {
      recorded.push_back(read_document(file));
    } catch (const Error& error) {
      // A run that took minutes does not fail for a file that it can do without.
      fmt::print(stderr, "The card check leaves out a recording: {}\n", clean(error.what()));
    }
  }
  return reports::check_card(document, recorded);
}

void publish_report(const Document& document, const fs::path& folder, const std::string& name,
                    const fs::path& recordings) {
  const auto checked = card_of(document, recordings);
  const reports::CardCheck* card = checked ? &*checked : nullptr;
  const ReportPaths paths = write_report(document, folder, name, card);
  const bool colour = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  print_out(terminal_summary(document, colour, card) + "\n");
  const auto say = [](const char* what, const fs::path& path) {
    print_line(fmt::format("{}: {}", what, fs::absolute(path).lexically_normal().string()));
  };
  say("Report", paths.readme);
  if (!paths.atlas.empty()) say("Atlas", paths.atlas);
  for (const fs::path& page : paths.pages) say("Page", page);
  const fs::path html = folder / "index.html";
  write_file_atomically(html, reports::html_page({{&document, name, checked}}, {}));
  say("Explore", html);
}

}  // namespace fathom
