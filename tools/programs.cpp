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
#include "results/document_fields.h"
#include "results/files.h"
#include "results/text.h"
#include "tools/child_process.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Loading the driver's libraries and waking an idle GPU takes seconds at worst.
constexpr std::chrono::seconds answer_limit{60};
constexpr const char* program_name = "fathom-device";

}  // namespace

const std::vector<RunSuite> run_suites{
    {"quick", 120, "the standalone probes' cases that decide most, under a minute"},
    {"default", 300, "all cases of the standalone probes, under three minutes"},
    {"atlas-quick", 120, "the memory hierarchy and the instructions in short"},
    {"atlas", 300,
     "the memory hierarchy and the instructions, level by level, with links and energy"},
    {"gemm-quick", 120, "every rung of the matrix-product ladders at 1024³"},
    {"gemm", 600, "the matrix-product ladders at 4096³, against the vendor's library"},
};

bool RunSuite::has(const std::string& probe) const {
  std::string group = "core";  // of a probe that no group names
  for (const auto& [known, its] : group_of_probe)
    if (known == probe) group = its;
  return std::ranges::count(groups_of_suite.at(name), group) > 0;
}

std::string RunSuite::group_names() const {
  return fmt::format("{}", fmt::join(groups_of_suite.at(name), ", "));
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

std::vector<ProbeBinary> find_probes(const fs::path& folder) {
  std::vector<ProbeBinary> probes;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    const std::string name = file.path().filename(), start = "probe_";
    const bool is_ladder = name == "gemm_ladder";
    if ((name.starts_with(start) || is_ladder) && file.is_regular_file(error) &&
        access(file.path().c_str(), X_OK) == 0)
      probes.push_back({file.path(), is_ladder ? "gemm" : name.substr(start.size())});
  }
  std::ranges::sort(probes, {}, &ProbeBinary::name);
  return probes;
}

std::vector<ProbeBinary> select_probes(const std::vector<ProbeBinary>& probes,
                                       const std::vector<std::string>& names,
                                       const RunSuite& suite) {
  check_names("--probe", names, names_of(probes));
  std::vector<ProbeBinary> selected;
  std::ranges::copy_if(probes, std::back_inserter(selected), [&](const ProbeBinary& probe) {
    return names.empty() ? suite.has(probe.name) : std::ranges::count(names, probe.name) > 0;
  });
  if (selected.empty())
    fail(ExitCode::setup_incomplete,
         "No probe program of the suite `{}` (group {}) was built: build Fathom again with "
         "./fathom run.",
         suite.name, suite.group_names());
  return selected;
}

void check_names(const std::string& flag, const std::vector<std::string>& names,
                 const std::vector<std::string>& known) {
  for (const auto& name : names)
    if (std::ranges::count(known, name) == 0)
      fail(ExitCode::bad_input, "{}: there is no probe `{}`, only {}.{}", flag, name,
           fmt::join(known, ", "), did_you_mean(name, known));
}

void ask_device(const fs::path& programs, const std::vector<std::string>& arguments,
                const std::function<void(const Json&)>& read) {
  const auto& [output, errors, end] =
      run_and_capture(programs / program_name, arguments, answer_limit);
  if (end.signal != 0 || end.stopped == Stopped::time_limit)
    fail(
        ExitCode::gpu_lost,
        "The NVIDIA driver did not answer ({}): see `dmesg`, reset the GPU or restart the machine.",
        end.stopped == Stopped::no ? end.describe()
                                   : fmt::format("for {} s", answer_limit.count()));
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
    const std::string origin = program_name;
    const ParsedJson json(answer.at("fingerprint").dump(), origin);
    read_fields(json.root(), {&origin}, {}, fingerprint);
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

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_write(folder, error.value());
}

TemporaryFolder::TemporaryFolder(const std::string& instead) {
  std::error_code nowhere;
  const fs::path parent = fs::temp_directory_path(nowhere);
  std::string pattern = (parent / "fathom-XXXXXX").string();
  if (nowhere || !mkdtemp(pattern.data()))
    fail(ExitCode::output_unwritable, "There is no folder for temporary files: {}.", instead);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace fathom
