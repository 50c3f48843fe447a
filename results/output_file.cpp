#include "results/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>

#include "results/atomic_file.h"
#include "results/fail.h"
#include "results/parse_number.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// The descriptor that a name in /proc/self/fd stands for, as /dev/stdout does after a link.
std::optional<int> descriptor_of(const fs::path& path) {
  std::error_code none;
  const fs::path own = fs::canonical("/proc/self/fd", none);
  if (none || fs::canonical(folder_of(path), none) != own || none) return std::nullopt;
  return parse_number<int>(path.filename().string());
}

/// What a name leads to: a descriptor of this process, or a path that is no link and may not be
/// there yet.
struct Place {
  fs::path path;
  std::optional<int> descriptor;
};

Place place_of(fs::path path) {
  constexpr int most_links = 40;  // as Linux has it
  for (int links = 0; links < most_links; ++links) {
    std::error_code none;
    const fs::path target = fs::read_symlink(path, none);
    if (none) return {path, std::nullopt};
    if (const auto descriptor = descriptor_of(path)) return {path, descriptor};
    path = folder_of(path) / target;  // the target alone where that is absolute
  }
  fail_write(path, ELOOP);
}

/// What makes two paths one file: device and inode; of a file that is not there yet, those of its
/// folder, and its name.
using FileId = std::tuple<dev_t, ino_t, std::string>;

struct KnownFile {
  FileId id;
  mode_t mode = S_IFREG;  ///< of a file that is not there yet: what it will be
  bool is_descriptor = false;
};

/// Nothing for what cannot be told: whoever opens it says why.
std::optional<KnownFile> known(const fs::path& named) {
  struct stat status {};
  const auto [path, descriptor] = place_of(named);
  if (descriptor ? fstat(*descriptor, &status) == 0 : stat(path.c_str(), &status) == 0)
    return KnownFile{{status.st_dev, status.st_ino, ""}, status.st_mode, descriptor.has_value()};
  if (descriptor || errno != ENOENT || stat(folder_of(path).c_str(), &status) != 0)
    return std::nullopt;
  return KnownFile{{status.st_dev, status.st_ino, path.filename().string()}};
}

}  // namespace

OutputFile::OutputFile(const fs::path& named) : named_(named) {
  const Place place = place_of(named);
  if (place.descriptor) {
    stream_ = FileDescriptor(fcntl(*place.descriptor, F_DUPFD_CLOEXEC, 0));
    if (stream_.get() < 0) fail_write(named, errno);
    return;
  }
  std::error_code none;
  const fs::file_status status = fs::status(place.path, none);
  if (fs::is_directory(status)) fail_write(named, EISDIR);
  if (!fs::exists(status) || fs::is_regular_file(status)) {
    file_ = place.path;
    require_writable_atomically(file_);
    return;
  }
  stream_ = FileDescriptor(open(place.path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
  if (stream_.get() < 0) fail_write(named, errno);
}

bool OutputFile::is_standard_output() const {
  struct stat own {
  }, standard{};
  return is_stream() && fstat(stream_.get(), &own) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
         own.st_dev == standard.st_dev && own.st_ino == standard.st_ino;
}

void OutputFile::write(std::string_view text) {
  if (is_stream())
    write_all(stream_.get(), text, named_);
  else
    write_file_atomically(file_, text);
}

std::optional<OutputFile> writable_output(const fs::path& named) {
  return named.empty() ? std::nullopt : std::optional<OutputFile>(named);
}

void append_to_file(const fs::path& path, std::string_view text) {
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0644));
  if (file.get() < 0) fail_write(path, errno);
  write_all(file.get(), text, path);
}

void require_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  if (std::ranges::all_of(outputs, [](const NamedFile& file) { return file.path.empty(); })) return;
  std::map<FileId, std::string> read, written;
  for (const NamedFile& input : inputs)
    if (const auto file = known(input.path))
      read.try_emplace(file->id, fmt::format("{} {}", input.name, input.path.string()));
  struct stat standard {};
  if (fstat(STDOUT_FILENO, &standard) == 0 && S_ISREG(standard.st_mode))
    written[{standard.st_dev, standard.st_ino, ""}] = "standard output";
  for (const NamedFile& output : outputs) {
    const auto file = output.path.empty() ? std::nullopt : known(output.path);
    // One name of a device or a socket, as of a terminal, is for reading and writing.
    if (!file || S_ISCHR(file->mode) || S_ISSOCK(file->mode)) continue;
    // What goes to a FIFO or to /dev/stdout destroys nothing that went there before.
    const bool destroys = S_ISREG(file->mode) && !file->is_descriptor;
    for (const auto* others : {&read, &written})
      if (const auto other = others->find(file->id);
          other != others->end() && (others == &read || destroys))
        fail(ExitCode::bad_input,
             "{} {} is the same file as {}: give another; nothing was written.", output.name,
             output.path.string(), other->second);
    if (destroys) written[file->id] = fmt::format("{} {}", output.name, output.path.string());
  }
}

}  // namespace fathom
