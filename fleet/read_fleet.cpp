#include <fmt/format.h>

#include <algorithm>

#include "fleet/fleet.h"
#include "results/atomic_file.h"
#include "results/document_io.h"
#include "results/fail.h"

namespace fathom::fleet {
namespace {

namespace fs = std::filesystem;

/// Folders of a run's own in which nothing is to be found, or what its document has already.
bool is_inner(const fs::path& folder) {
  const std::string name = folder.filename();
  return name == "report" || name == "parts" || name == "logs";
}

/// Several are read at once; a whole atlas with all its samples has a tenth of it.
constexpr std::size_t largest_file = std::size_t{64} << 20;

bool is_summary(const fs::path& file) {
  return file.filename() == summary_file || file.filename() == links_file;
}

/// The files of a folder, and what cannot be read there.
struct Found {
  fs::path root;
  std::vector<fs::path> files{};
  std::vector<Problem> unread{};

  void add_unread(const fs::path& path, const std::string& why,
                  ExitCode code = ExitCode::incomplete) {
    unread.push_back({path.lexically_relative(root).string(), why, to_int(code)});
  }
  /// One folder's entries, and those of the folders below. Links to folders are not followed: they
  /// may lead round in a circle. `summed_up`: by a summary in a folder above; a document below one
  /// is not read.
  void look_into(const fs::path& folder, bool summed_up);
};

void Found::look_into(const fs::path& folder, bool summed_up) {
  std::vector<fs::path> inner, documents;
  std::error_code error, unknown;
  fs::directory_iterator at(folder, error), end;
  if (error && folder == root)
    fail(ExitCode::bad_input, "{} cannot be read ({}): name the folder that the jobs wrote into.",
         folder.string(), error.message());
  for (; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    const fs::file_type type = at->status(unknown).type();
    const bool is_json = path.extension() == ".json" && path.filename() != "fleet.json";
    if (type == fs::file_type::directory) {
      if (is_summary(path)) add_unread(path, "it cannot be read (it is a folder)");
      if (!is_inner(path) && !at->is_symlink(unknown)) inner.push_back(path);
    } else if (path.extension() == ".tmp") {
      add_unread(path, "its writer died before it was complete", ExitCode::document_malformed);
    } else if (is_json && type != fs::file_type::regular) {
      // A pipe, whose writer would be waited for, or a link that leads nowhere.
      add_unread(path, "it cannot be read (it is no file)");
    } else if (is_json) {
      (is_summary(path) ? files : documents).push_back(path);
      summed_up = summed_up || is_summary(path);
    }
  }
  if (error) add_unread(folder, fmt::format("it cannot be read ({})", error.message()));
  if (!summed_up) files.insert(files.end(), documents.begin(), documents.end());
  for (const fs::path& below : inner) look_into(below, summed_up);
}

/// A document of a job that left no summary: `fathom run`'s own.
void add_whole_document(const fs::path& file, const fs::path& root, const std::string& text,
                        FleetBuilder& builder) {
  const Document document = parse_document(text, file.string());
  const auto is_links = [](const ProbeSummary& probe) { return probe.name == "links"; };
  if (!document.probes.empty() && std::ranges::all_of(document.probes, is_links))
    return builder.add(links_of(file.parent_path().filename(), document));
  GpuSummary summary;
  // The folder of the run, relative to where was looked: "node07-0".
  summary.host = file.parent_path().lexically_relative(root).string();
  if (summary.host == ".") summary.host = file.stem().string();
  add_document(summary, document, Phase::alone);
  require_date(summary, file.string());
  const auto incomplete = std::ranges::find_if(document.probes, [](const ProbeSummary& probe) {
    return probe.status != ProbeStatus::complete;
  });
  if (incomplete != document.probes.end()) {
    summary.status = GpuStatus::partial;
    summary.reason = fmt::format("{}: {}", incomplete->name, incomplete->status_reason);
    summary.exit_code = to_int(ExitCode::incomplete);
  }
  builder.add(std::move(summary), file);
}

/// `run`: whose; empty: anybody's.
void read_file(const fs::path& file, const fs::path& root, const std::string& run,
               FleetBuilder& builder) {
  try {
    const std::string text = read_file_up_to(file, largest_file);
    const std::string_view begin = std::string_view(text).substr(0, 64);
    if (begin.find(summary_key) != begin.npos) {
      GpuSummary summary = parse_summary(text, file.string());
      if (run.empty() || summary.run == run) builder.add(std::move(summary), file);
    } else if (begin.find(links_key) != begin.npos) {
      HostLinks links = parse_links(text, file.string());
      if (run.empty() || links.run == run) builder.add(std::move(links));
    } else if (run.empty())  // a run's own are summed up
      add_whole_document(file, root, text, builder);
  } catch (const Error& error) {
    builder.add(
        Problem{file.lexically_relative(root).string(), error.what(), to_int(error.code())});
  }
}

}  // namespace

Fleet read_fleet(const fs::path& folder, const Expected& expected) {
  const fs::path root = folder.lexically_normal();
  Found found{root};
  found.look_into(root, false);
  std::ranges::sort(found.files);
  if (!expected.run.empty()) {
    // Its own are written in one step; the others are of runs before it.
    found.unread.clear();
    std::erase_if(found.files, [](const fs::path& file) { return !is_summary(file); });
  }
  FleetBuilder builder;
  for (Problem& problem : found.unread) builder.add(std::move(problem));
  in_parallel(found.files.size(),
              [&](std::size_t i) { read_file(found.files[i], root, expected.run, builder); });
  Fleet fleet = builder.finish(expected);
  // A run that could write nothing has told why itself.
  if (fleet.gpus.empty() && fleet.links.empty() && fleet.problems.empty() && expected.run.empty())
    fail(ExitCode::bad_input,
         "{} holds no result: name the folder that `fathom fleet run` or `fathom run` wrote into.",
         folder.string());
  return fleet;
}

}  // namespace fathom::fleet
