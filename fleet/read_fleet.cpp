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

  void add_unread(const fs::path& path, const std::string& why) {
    add_problem(path, fmt::format("it cannot be read ({})", why), ExitCode::incomplete);
  }
  void add_problem(const fs::path& path, const std::string& reason, ExitCode code) {
    unread.push_back({path.lexically_relative(root).string(), reason, to_int(code)});
  }
  /// One folder's entries, and those of the folders below. Links to folders are not followed: they
  /// may lead round in a circle. `summed_up`: by a summary in a folder above; a document below one
  /// is not read.
  void look_into(const fs::path& folder, bool summed_up);
};

void Found::look_into(const fs::path& folder, bool summed_up) {
  std::vector<fs::path> inner, documents;
  std::error_code error;
  fs::directory_iterator at(folder, error), end;
  if (error && folder == root)
    fail(ExitCode::bad_input, "{} cannot be read ({}): name the folder that the jobs wrote into.",
         folder.string(), error.message());
  for (; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    std::error_code unknown;
    if (at->symlink_status(unknown).type() == fs::file_type::directory) {
      if (is_summary(path)) add_unread(path, "it is a folder");
      if (!is_inner(path)) inner.push_back(path);
    } else if (path.extension() == ".tmp") {
      add_problem(path, "its writer died before it was complete", ExitCode::document_malformed);
    } else if (path.extension() == ".json" && path.filename() != "fleet.json") {
      const fs::file_type type = at->status(unknown).type();
      if (type == fs::file_type::directory) continue;  // by a link
      if (type == fs::file_type::regular)
        (is_summary(path) ? files : documents).push_back(path);
      else  // a pipe, whose writer would be waited for, or a link that leads nowhere
        add_unread(path, "it is no file");
      summed_up = summed_up || is_summary(path);
    }
  }
  if (error) add_unread(folder, error.message());
  if (!summed_up) files.insert(files.end(), documents.begin(), documents.end());
  for (const fs::path& below : inner) look_into(below, summed_up);
}

/// The folder of a run, relative to where was looked: "node07-0".
std::string folder_of(const fs::path& file, const fs::path& root) {
  const std::string inner = file.parent_path().lexically_relative(root).string();
  return inner.empty() || inner == "." ? file.stem().string() : inner;
}

bool is_links(const Document& document) {
  return !document.probes.empty() &&
         std::ranges::all_of(document.probes,
                             [](const ProbeSummary& p) { return p.name == "links"; });
}

/// A document of a job that left no summary: `fathom run`'s own.
void add_whole_document(const fs::path& file, const fs::path& root, const std::string& text,
                        FleetBuilder& builder) {
  Document document = parse_document(text, file.string());
  if (is_links(document)) {
    const std::string folder = file.parent_path().filename();
    return builder.add(links_of(folder, document));
  }
  GpuSummary summary;
  summary.host = folder_of(file, root);
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
  const auto shown = [&] { return file.lexically_relative(root).string(); };
  try {
    const std::string text = read_file_up_to(file, largest_file);
    const auto begins_with = [&, start = std::string_view(text).substr(0, 64)](
                                 std::string_view key) { return start.find(key) != start.npos; };
    if (begins_with(summary_key)) {
      GpuSummary summary = parse_summary(text, file.string());
      if (run.empty() || summary.run == run) builder.add(std::move(summary), file);
    } else if (begins_with(links_key)) {
      HostLinks links = parse_links(text, file.string());
      if (run.empty() || links.run == run) builder.add(std::move(links));
    } else if (run.empty())  // a run's own are summed up
      add_whole_document(file, root, text, builder);
  } catch (const Error& error) {
    builder.add(Problem{shown(), error.what(), to_int(error.code())});
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
