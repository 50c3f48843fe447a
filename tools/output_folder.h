#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fathom {

/// "NVIDIA H200" -> "h200"; "NVIDIA GeForce RTX 4090" -> "geforce-rtx-4090".
std::string gpu_slug(std::string_view gpu_name);

/// Where a run puts what it makes.
struct OutputFolder {
  std::filesystem::path root;
  std::filesystem::path result() const { return root / "result.json"; }
  std::filesystem::path report() const { return root / "report"; }
  std::filesystem::path logs() const { return root / "logs"; }
  /// The probes' own documents, until they are merged into `result`.
  std::filesystem::path parts() const { return root / "parts"; }
};

/// Makes the folder `root` and proves that a run's results fit into it. Throws
/// Error(output_unwritable) or Error(output_full).
OutputFolder prepare_output_folder(const std::filesystem::path& root);

/// Makes a folder, with those above it; throws as above.
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
