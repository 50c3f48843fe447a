#include "tools/probe_binaries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "generated/suite_groups.h"
#include "results/fail.h"
#include "results/suggestion.h"
#include "tools/child_process.h"

namespace fathom {
namespace {

/// The second may be empty. cmake/Suites.cmake has every suite below.
const std::array<std::string_view, 2>& groups_of(const RunSuite& suite) {
  return std::ranges::find(suite_groups, suite.name, &SuiteGroups::suite)->groups;
}

constexpr std::chrono::seconds description_limit{30};

std::vector<std::filesystem::path> programs_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> programs;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = file.path().filename();
    // The ladder describes itself as a probe does and is not named like one.
    const bool is_probe = name.starts_with("probe_") || name == "gemm_ladder";
    if (is_probe && file.is_regular_file(error) && access(file.path().c_str(), X_OK) == 0)
      programs.push_back(file.path());
  }
  std::ranges::sort(programs);
  return programs;
}

ProbeBinary described(const std::filesystem::path& program, const CapturedRun& run) {
  try {
    const auto description = nlohmann::json::parse(run.output);
    return {program,
            description.at("name"),
            description.at("group"),
            description.at("question"),
            description.at("method"),
            description.at("claims")};
  } catch (const nlohmann::json::exception&) {
    const std::string said = last_line(run.errors);
    fail(ExitCode::setup_incomplete,
         "{} does not describe itself ({}{}): build Fathom again with ./fathom run.",
         program.string(), run.end.describe(), said.empty() ? "" : ": " + said);
  }
}

}  // namespace

const std::vector<RunSuite> run_suites{
    {"quick", "quick", 120, "the standalone probes' cases that decide most, under a minute"},
    {"default", "default", 300, "all cases of the standalone probes, under three minutes"},
    {"atlas-quick", "quick", 120, "the memory hierarchy and the instructions in short"},
    {"atlas", "default", 300,
     "the memory hierarchy and the instructions, level by level, with links and energy"},
    {"gemm-quick", "quick", 120, "every rung of the matrix-product ladders at 1024³"},
    {"gemm", "default", 600, "the matrix-product ladders at 4096³, against the vendor's library"},
};

bool RunSuite::has(std::string_view group) const {
  return !group.empty() && std::ranges::count(groups_of(*this), group) > 0;
}

std::string RunSuite::group_names() const {
  const auto& [first, second] = groups_of(*this);
  return std::string(first) + (second.empty() ? "" : ", ") + std::string(second);
}

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const RunSuite& suite : run_suites) names.push_back(suite.name);
  return names;
}

const RunSuite* find_run_suite(const std::string& name) {
  const auto found = std::ranges::find(run_suites, name, &RunSuite::name);
  return found == run_suites.end() ? nullptr : &*found;
}

std::filesystem::path executable_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::filesystem::path program_folder() {
  if (const char* folder = std::getenv("FATHOM_BIN_DIR")) return folder;
  const std::filesystem::path here = executable_folder();
  const std::filesystem::path installed = here.parent_path() / "libexec/fathom";
  return std::filesystem::is_directory(installed) ? installed : here;
}

bool has_probes(const std::filesystem::path& folder) { return !programs_in(folder).empty(); }

std::vector<ProbeBinary> find_probes(const std::filesystem::path& folder) {
  const std::vector<std::filesystem::path> programs = programs_in(folder);
  if (programs.empty())
    fail(ExitCode::setup_incomplete,
         "There are no probe programs in {}: build Fathom with ./fathom run.", folder.string());
  // All at once: each takes its time to load.
  const auto runs = run_all_and_capture(programs, {"--describe"}, description_limit);
  std::vector<ProbeBinary> probes;
  for (std::size_t i = 0; i < programs.size(); ++i)
    probes.push_back(described(programs[i], runs[i]));
  return probes;
}

std::vector<ProbeBinary> select_probes(const std::vector<ProbeBinary>& probes,
                                       const std::vector<std::string>& names,
                                       const RunSuite& suite) {
  check_names("--probe", names, probes);
  std::vector<ProbeBinary> selected;
  std::ranges::copy_if(probes, std::back_inserter(selected), [&](const ProbeBinary& probe) {
    return names.empty() ? suite.has(probe.group) : std::ranges::count(names, probe.name) > 0;
  });
  if (selected.empty())
    fail(ExitCode::setup_incomplete,
         "No probe program of the suite `{}` (group {}) was built: build Fathom again with "
         "./fathom run.",
         suite.name, suite.group_names());
  return selected;
}

void check_names(const std::string& flag, const std::vector<std::string>& names,
                 const std::vector<ProbeBinary>& probes) {
  std::vector<std::string> known;
  for (const auto& probe : probes) known.push_back(probe.name);
  for (const auto& name : names)
    if (std::ranges::count(known, name) == 0)
      fail(ExitCode::bad_input, "{}: there is no probe `{}`, only {}.{}", flag, name,
           fmt::join(known, ", "), did_you_mean(name, known));
}

}  // namespace fathom
