#include "results/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
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

constexpr const char* standard_output = "/proc/self/fd/1";

/// Whether a path names a descriptor of this process, as /dev/stdout does behind its link.
bool names_descriptor(const fs::path& path) {
  std::error_code none;
  return fs::equivalent(folder_of(path), "/proc/self/fd", none);
}

/// What a name leads to: a descriptor, or a path that is no link and may not be there yet.
fs::path behind_links(fs::path path) {
  constexpr int most_links = 40;  // as Linux has it
  for (int links = 0; links < most_links; ++links) {
    std::error_code none;
    const fs::path target = fs::read_symlink(path, none);
    if (none || names_descriptor(path)) return path;
    path = folder_of(path) / target;  // the target alone where that is absolute
  }
  fail_write(path, ELOOP);
}

/// What makes two paths one file: device and inode; of a file that is not there yet, those of its
/// folder, and its name. Nothing for what cannot be told: whoever opens it says why.
using FileId = std::tuple<dev_t, ino_t, std::string>;

std::optional<FileId> id_of(const fs::path& named) {
  struct stat status {};
  const fs::path path = behind_links(named);
  if (stat(path.c_str(), &status) == 0) return FileId{status.st_dev, status.st_ino, ""};
  if (errno != ENOENT || stat(folder_of(path).c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino, path.filename().string()};
}

/// Whether what is there is replaced: not what goes to a device, a FIFO or a descriptor.
bool replaces(const fs::path& named) {
  std::error_code none;
  const fs::path path = behind_links(named);
  const fs::file_status status = fs::status(path, none);
  return (!fs::exists(status) || fs::is_regular_file(status)) && !names_descriptor(path);
}

}  // namespace

OutputFile::OutputFile(const fs::path& named) : named_(named), file_(behind_links(named)) {
  if (replaces(named)) {
    require_writable_atomically(file_);
    return;
  }
  stream_ = FileDescriptor(
      names_descriptor(file_)
          ? fcntl(parse_number<int>(file_.filename().string()).value_or(-1), F_DUPFD_CLOEXEC, 0)
          : open(file_.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
  if (stream_.get() < 0) fail_write(named, errno);
}

bool OutputFile::is_standard_output() const {
  return is_stream() && id_of(named_) == id_of(standard_output);
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
  std::ofstream file(path, std::ios::app);
  if (!(file << text << std::flush)) fail_write(path, errno);
}

void require_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  if (std::ranges::all_of(outputs, [](const NamedFile& file) { return file.path.empty(); })) return;
  std::map<FileId, std::string> read, written;
  std::error_code none;
  for (const NamedFile& input : inputs)
    if (const auto id = id_of(input.path))
      read.try_emplace(*id, fmt::format("{} {}", input.name, input.path.string()));
  if (fs::is_regular_file(standard_output, none))
    if (const auto id = id_of(standard_output)) written[*id] = "standard output";
  for (const NamedFile& output : outputs) {
    const auto id = output.path.empty() ? std::nullopt : id_of(output.path);
    const fs::file_status status = fs::status(behind_links(output.path), none);
    // One name of a device or a socket, as of a terminal, is for reading and writing.
    if (!id || fs::is_character_file(status) || fs::is_socket(status)) continue;
    // What goes to a FIFO or to /dev/stdout destroys nothing that went there before.
    const bool destroys = replaces(output.path);
    for (const auto* others : {&read, &written})
      if (const auto other = others->find(*id);
          other != others->end() && (others == &read || destroys))
        fail(ExitCode::bad_input,
             "{} {} is the same file as {}: give another; nothing was written.", output.name,
             output.path.string(), other->second);
    if (destroys) written[*id] = fmt::format("{} {}", output.name, output.path.string());
  }
}

}  // namespace fathom
