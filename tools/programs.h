#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

/// What `fathom run --suite NAME` runs: the probes of some groups, each with one size of its sweep.
struct RunSuite {
  std::string name;
  int probe_limit_s;  ///< after which a probe is ended: well above what it takes on a fast GPU
  const char* description;  ///< with the time it may take

  bool has(const std::string& probe) const;
  /// What its probes' own --suite takes.
  const char* sweep() const { return name.ends_with("quick") ? "quick" : "default"; }
  std::string group_names() const;  ///< "atlas, atlas-long"
};

extern const std::vector<RunSuite> run_suites;

/// Nothing for a name that no suite has.
const RunSuite* find_run_suite(const std::string& name);

/// The folder that this program is in.
std::filesystem::path executable_folder();

/// The folder of the probes: FATHOM_BIN_DIR, else <prefix>/libexec/fathom if this program is in the
/// <prefix>/bin of an installation, else beside this program.
std::filesystem::path program_folder();

struct ProbeBinary {
  std::filesystem::path program;
  std::string name;  ///< "copy_bandwidth"
};

/// Every `probe_*` program of the folder and `gemm_ladder`, by name. None in a build without CUDA
/// (FATHOM_CUDA=OFF), which replays but cannot measure.
std::vector<ProbeBinary> find_probes(const std::filesystem::path& folder);

/// Those with the given names, in the order of `probes`; those of the suite if no name is given.
/// Throws as check_names does, and Error(setup_incomplete) if the suite has none.
std::vector<ProbeBinary> select_probes(const std::vector<ProbeBinary>& probes,
                                       const std::vector<std::string>& names,
                                       const RunSuite& suite);

/// Of probes or their summaries.
template <class Probe>
std::vector<std::string> names_of(const std::vector<Probe>& probes) {
  std::vector<std::string> names;
  for (const Probe& probe : probes) names.push_back(probe.name);
  return names;
}

/// Throws Error(bad_input) for a name in a flag's list that is not known.
void check_names(const std::string& flag, const std::vector<std::string>& names,
                 const std::vector<std::string>& known);

// The command itself knows nothing of CUDA, so that it runs, replays and reports on any machine: it
// asks the program `fathom-device` in the folder `programs`.

/// Throws Error with the code and sentence of `fathom-device`: no driver, driver too old, GPU lost,
/// GPU busy, or no such device; and where `read` throws, for a missing member or another type.
void ask_device(const std::filesystem::path& programs, const std::vector<std::string>& arguments,
                const std::function<void(const nlohmann::ordered_json&)>& read);

/// The GPU with CUDA's number `device`; throws as above.
Fingerprint query_device(const std::filesystem::path& programs, int device);

/// PCI address of an NVIDIA GPU in this machine, driver or not; empty if there is none.
/// FATHOM_PCI_DEVICES names another folder than /sys/bus/pci/devices.
std::string nvidia_gpu_on_pci();

/// Makes a folder, with those above it; throws Error(output_unwritable) or
/// Error(output_full).
void make_folder(const std::filesystem::path& folder);

/// A folder of its own for temporary files, which goes with its contents when this does.
class TemporaryFolder {
 public:
  /// Throws Error(output_unwritable) if there can be none, with `instead` as what to do then.
  explicit TemporaryFolder(const std::string& instead);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fathom
