
#include <algorithm>

#include "gate/parse.h"
#include "results/atomic_file.h"
#include "results/fail.h"

// Criterion.rs leaves no file of all results but a folder, CRITERION_HOME or target/criterion:
// <benchmark>/new/estimates.json with times in nanoseconds, and benchmark.json with its name.

namespace fathom::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_estimate = std::size_t{1} << 20;

/// The folders "new" below, in the order of their names. Links are not followed.
std::vector<fs::path> newest_results(const fs::path& folder) {
  constexpr std::size_t most_entries = 1'000'000;
  std::vector<fs::path> found;
  std::size_t seen = 0;
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    if (++seen > most_entries)
      fail(ExitCode::document_malformed,
           "{}: holds more than {} files, so is no folder of results.", folder.string(),
           most_entries);
    constexpr int deepest = 16;
    if (at.depth() >= deepest) at.disable_recursion_pending();
    if (at->path().filename() != "estimates.json") continue;
    std::error_code ignored;  // nor may it be a pipe, on which a reader waits
    if (!fs::is_regular_file(at->path(), ignored)) continue;
    if (at->path().parent_path().filename() == "new") found.push_back(at->path().parent_path());
  }
  if (failed)
    fail(ExitCode::bad_input, "{} cannot be read ({}): give a folder that can.", folder.string(),
         failed.message());
  std::sort(found.begin(), found.end());
  return found;
}

/// Reads a small JSON file and hands its fields on.
template <typename Use>
void with_json(const fs::path& file, Use use) {
  const std::string text = read_file_up_to(file, largest_estimate), origin = file.string();
  const ParsedJson json(text, origin);
  use(Fields(json.root(), Place{&origin}));
}

}  // namespace

void read_criterion(const fs::path& folder, RunMetrics& run, PooledMetrics& metrics) {
  const std::vector<fs::path> results = newest_results(folder);
  if (results.empty())
    fail(ExitCode::bad_input,
         "{} is a folder without results: give a result, or the folder that Criterion leaves "
         "(CRITERION_HOME).",
         run.origin);
  fs::file_time_type newest = fs::file_time_type::min();
  for (const fs::path& result : results) {
    std::string name = result.parent_path().lexically_relative(folder).string();
    std::error_code failed;
    if (fs::is_regular_file(result / "benchmark.json", failed))
      with_json(result / "benchmark.json",
                [&](const Fields& fields) { name = fields.text_or("full_id", name); });
    with_json(result / "estimates.json", [&](const Fields& fields) {
      const Fields median = fields.object("median");
      metrics.add(name, "ns", Better::lower, {median.number("point_estimate")}, 0, fields.place());
      if (!run.intervals || !median.has("confidence_interval")) return;
      const Fields interval = median.object("confidence_interval");
      metrics.add_interval(name, Interval{interval.number("lower_bound") * 1e-9,
                                          interval.number("upper_bound") * 1e-9,
                                          interval.number("confidence_level"), "Criterion's"});
    });
    const auto written = fs::last_write_time(result / "estimates.json", failed);
    if (!failed) newest = std::max(newest, written);
  }
  run.date = date_of_file(newest);
  run.identity = identity_of_program("criterion");
}

}  // namespace fathom::gate
