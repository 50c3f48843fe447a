#include "gate/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <system_error>

#include "reports/markdown.h"
#include "results/files.h"

namespace fathom::gate {
namespace {

namespace fs = std::filesystem;

/// Whether prune may remove a file: one that `add` named, in a folder that it named. Whatever else
/// lies in a folder given by mistake is nobody's to remove, a result that was not copied least.
bool is_of_add(const fs::path& file) {
  const auto ends_in_hash = [](const std::string& name) {
    const auto dash = name.find_last_not_of("0123456789abcdef");
    return dash != name.npos && name[dash] == '-' && name.size() - dash == 1 + 16;
  };
  return ends_in_hash(file.stem().string()) && ends_in_hash(file.parent_path().filename().string());
}

/// One of `add` that holds no run of any version.
bool is_lost_run(const fs::path& file, const Error& error) {
  return error.code() == ExitCode::document_malformed && is_of_add(file);
}

}  // namespace

fs::path BaselineFolder::folder_for(const RunMetrics& run) const {
  const std::string name = reports::slug(fact_of(run, run.fathom ? "gpu_name" : "host_name"));
  return root_ / fmt::format("{}-{}", name.empty() ? "unknown" : name, identity_key(run));
}

fs::path BaselineFolder::add(const RunMetrics& run) const {
  const auto refuse_if = [&](bool unfit, const char* why) {
    if (unfit) throw Error(ExitCode::bad_input, run.origin + why);
  };
  refuse_if(run.replay, " is a replay of a recording: only measurements can be a baseline.");
  refuse_if(run.date.empty(), " has no date, by which the runs of a baseline are ordered.");
  refuse_if(std::ranges::none_of(run.metrics, &std::string::empty, &MetricValue::problem),
            " has no metric with a usable value.");
  const fs::path folder = folder_for(run);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail(ExitCode::output_unwritable,
         "{} cannot be made ({}): give another folder with --baseline.", folder.string(),
         error.message());
  const std::string text = baseline_text(run);
  const fs::path file = folder / (reports::slug(run.date) + "-" + hash_of({text}) + ".json");
  write_file_atomically(file, text);
  return file;
}

std::map<fs::path, std::vector<fs::path>> BaselineFolder::groups() const {
  std::map<fs::path, std::vector<fs::path>> found;
  std::error_code error;
  if (!fs::exists(root_, error) && !error) return found;
  const auto links = fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator at(root_, links, error), end; !error && at != end;
       at.increment(error)) {
    if (at.depth() == 0) continue;
    at.disable_recursion_pending();
    const fs::path& file = at->path();
    if (file.extension() == ".json") found[file.parent_path()].push_back(file);
  }
  if (error)
    fail(ExitCode::bad_input, "{} cannot be read ({}): give the folder of a baseline.",
         root_.string(), error.message());
  for (auto& [folder, files] : found) std::ranges::sort(files);
  return found;
}

ReadRuns read_runs(const std::vector<fs::path>& files) {
  ReadRuns read;
  std::error_code ignored;
  for (const fs::path& file : files) {
    try {
      read.runs.push_back(read_run_metrics(file));
    } catch (const Error& error) {
      // Else somebody pruned it meanwhile.
      if (fs::exists(file, ignored)) read.unreadable.emplace_back(file, error);
    }
  }
  std::ranges::stable_sort(read.runs, {}, &RunMetrics::date);
  return read;
}

std::string BaselineFolder::why_empty() const {
  return root_.string() + " has no run yet: `fathom baseline add` puts them there";
}

std::vector<RunMetrics> BaselineFolder::runs_like(const RunMetrics& run) const {
  ReadRuns read = read_runs(groups()[folder_for(run)]);
  if (read.unreadable.empty()) return std::move(read.runs);
  const auto& [file, error] = read.unreadable.front();
  const std::string what_to_do =
      fmt::format(" `fathom baseline prune --baseline {}` removes such files.", root_.string());
  throw Error(error.code(), error.what() + (is_lost_run(file, error) ? what_to_do : ""));
}

std::vector<RunMetrics> BaselineFolder::ratios_like(const RunMetrics& run) const {
  const RunMetrics wanted = ratios_of(run);
  std::vector<RunMetrics> found;
  for (const RunMetrics& newest : newest_of_each()) {
    if (!differences_of(ratios_of(newest), wanted).empty()) continue;
    for (RunMetrics& earlier : runs_like(newest)) found.push_back(ratios_of(std::move(earlier)));
  }
  std::ranges::stable_sort(found, {}, &RunMetrics::date);
  return found;
}

std::vector<RunMetrics> BaselineFolder::newest_of_each() const {
  std::vector<RunMetrics> newest;
  for (const auto& [folder, files] : groups())
    if (ReadRuns read = read_runs(files); !read.runs.empty())
      newest.push_back(std::move(read.runs.back()));
  return newest;
}

BaselineFolder::Pruned BaselineFolder::prune(const Pruning& pruning) const {
  Pruned pruned;
  for (const auto& [folder, files] : groups()) {
    const auto [runs, unreadable] = read_runs(files);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const bool surplus = pruning.keep > 0 && runs.size() - i > pruning.keep;
      if ((surplus || runs[i].date < pruning.older_than) && is_of_add(runs[i].origin))
        pruned.gone.emplace_back(runs[i].origin);
    }
    for (const auto& [file, why] : unreadable) {
      pruned.unreadable.emplace_back(why.what());
      if (is_lost_run(file, why)) pruned.gone.push_back(file);
    }
  }
  std::error_code error;
  for (const fs::path& file : pruned.gone)
    if (!pruning.dry_run && !fs::remove(file, error) && error)
      fail(ExitCode::output_unwritable, "{} cannot be removed ({}).", file.string(),
           error.message());
  return pruned;
}

}  // namespace fathom::gate
