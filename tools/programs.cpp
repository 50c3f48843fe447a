#include "tools/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "generated/suite_groups.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/text.h"
#include "tools/child_process.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// cmake/Suites.cmake has every suite below.
const std::vector<std::string_view>& groups_of(const RunSuite& suite) {
  return std::ranges::find(suite_groups, suite.name, &SuiteGroups::suite)->groups;
}

constexpr std::chrono::seconds description_limit{30};

std::vector<fs::path> programs_in(const fs::path& folder) {
  std::vector<fs::path> programs;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    const std::string name = file.path().filename();
    // The ladder describes itself as a probe does and is not named like one.
    const bool is_probe = name.starts_with("probe_") || name == "gemm_ladder";
    if (is_probe && file.is_regular_file(error) && access(file.path().c_str(), X_OK) == 0)
      programs.push_back(file.path());
  }
  std::ranges::sort(programs);
  return programs;
}

// Loading the driver's libraries and waking an idle GPU takes seconds at worst.
constexpr std::chrono::seconds answer_limit{60};
constexpr const char* program_name = "fathom-device";

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
  return std::ranges::count(groups_of(*this), group) > 0;
}

std::string RunSuite::group_names() const {
  return fmt::format("{}", fmt::join(groups_of(*this), ", "));
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

fs::path executable_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

fs::path program_folder() {
  if (const char* folder = std::getenv("FATHOM_BIN_DIR")) return folder;
  const fs::path here = executable_folder();
  const fs::path installed = here.parent_path() / "libexec/fathom";
  return fs::is_directory(installed) ? installed : here;
}

bool has_probes(const fs::path& folder) { return !programs_in(folder).empty(); }

std::vector<ProbeBinary> find_probes(const fs::path& folder) {
  const std::vector<fs::path> programs = programs_in(folder);
  if (programs.empty())
    fail(ExitCode::setup_incomplete,
         "There are no probe programs in {}: build Fathom with ./fathom run.", folder.string());
  // All at once: each takes its time to load.
  const auto runs = run_all_and_capture(programs, {"--describe"}, description_limit);
  std::vector<ProbeBinary> probes;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto& [output, errors, end] = runs[i];
    try {
      const auto says = nlohmann::json::parse(output);
      probes.push_back({programs[i], says.at("name"), says.at("group"), says.at("question"),
                        says.at("method"), says.at("claims")});
    } catch (const nlohmann::json::exception&) {
      const std::string said = last_line(errors);
      fail(ExitCode::setup_incomplete,
           "{} does not describe itself ({}{}): build Fathom again with ./fathom run.",
           programs[i].string(), end.describe(), said.empty() ? "" : ": " + said);
    }
  }
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

void ask_device(const fs::path& programs, const std::vector<std::string>& arguments,
                const std::function<void(const Json&)>& read) {
  const auto& [output, errors, end] =
      run_and_capture(programs / program_name, arguments, answer_limit);
  if (end.stopped == Stopped::time_limit)
    fail(ExitCode::gpu_lost,
         "The NVIDIA driver did not answer within {} s: restart the machine or reset the GPU.",
         answer_limit.count());
  if (end.signal != 0)
    fail(ExitCode::gpu_lost,
         "{} was ended by {} while it asked the driver: see `dmesg` for what the driver says.",
         program_name, end.describe());
  if (end.status != 0) {
    std::string sentence = last_line(errors);
    if (const auto prefix = fmt::format("{}: ", program_name); sentence.starts_with(prefix))
      sentence.erase(0, prefix.size());
    if (sentence.empty()) sentence = fmt::format("{} ended with {}.", program_name, end.describe());
    throw Error(static_cast<ExitCode>(end.status), sentence);
  }
  try {
    read(Json::parse(output));
  } catch (const std::exception&) {
    fail(ExitCode::setup_incomplete,
         "{} gave no answer that fits this program: build Fathom again with ./fathom run.",
         (programs / program_name).string());
  }
}

Fingerprint query_device(const fs::path& programs, int device) {
  Fingerprint fingerprint;
  ask_device(programs, {"--facts", "--device", std::to_string(device)}, [&](const Json& answer) {
    fingerprint = fingerprint_from_json(answer.at("fingerprint"), program_name);
  });
  return fingerprint;
}

std::string nvidia_gpu_on_pci() {
  const char* folder = std::getenv("FATHOM_PCI_DEVICES");
  const auto begins = [](const fs::path& file, const char* text) {
    std::string word;
    return std::ifstream(file) >> word && word.starts_with(text);
  };
  std::error_code error;
  for (const auto& device : fs::directory_iterator(folder ? folder : "/sys/bus/pci/devices", error))
    // Class 0x03: display controllers, which data-centre GPUs without an output are as well.
    if (begins(device.path() / "vendor", "0x10de") && begins(device.path() / "class", "0x03"))
      return device.path().filename();
  return {};
}

}  // namespace fathom
