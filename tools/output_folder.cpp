#include "tools/output_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <system_error>

#include "results/fail.h"
#include "results/files.h"

namespace fathom {

std::string gpu_slug(std::string_view gpu_name) {
  std::string slug;
  for (const char c : gpu_name) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  if (slug.starts_with("nvidia-")) slug.erase(0, 7);
  return slug.empty() ? "gpu" : slug;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_write(folder, error.value());
}

OutputFolder prepare_output_folder(const std::filesystem::path& root) {
  const OutputFolder folder{std::filesystem::absolute(root).lexically_normal()};
  make_folder(folder.root);
  // Takes the room for real: neither permissions nor free-space figures tell the whole truth
  // (quotas, read-only mounts, reserved blocks). A default run takes about a quarter of it.
  constexpr off_t room_needed = off_t{16} << 20;
  const auto path = folder.root / ".fathom-room";
  const FileDescriptor file = create_file(path);
  unlink(path.c_str());  // at once: a run that is killed here leaves nothing
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file.get(), 0, room_needed);
  if (error) fail_write(folder.root, error);
  return folder;
}

TemporaryFolder::TemporaryFolder(const std::string& instead) {
  std::error_code nowhere;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(nowhere);
  std::string pattern = (parent / "fathom-XXXXXX").string();
  if (nowhere || !mkdtemp(pattern.data()))
    fail(ExitCode::output_unwritable, "There is no folder for temporary files: {}.", instead);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fathom
