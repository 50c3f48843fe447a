#include "results/files.h"

#define ZLIB_CONST  // zlib reads only

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <regex>
#include <system_error>
#include <thread>
#include <tuple>

#include "results/text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// Removes what killed processes left of the file's new text. What a process still writes stays: it
/// holds a lock on it. On storage that knows no locks all stay.
void sweep(const fs::path& target) {
  static const std::regex ending("\\.[0-9]+-[0-9a-f]{8}\\.tmp");
  const std::string name = target.filename().string();
  std::error_code none;
  for (fs::directory_iterator place(folder_of(target), none);
       !none && place != fs::directory_iterator(); place.increment(none)) {
    const fs::path& path = place->path();
    const std::string other = path.filename().string();
    if (!other.starts_with(name) || !std::regex_match(other.substr(name.size()), ending)) continue;
    const FileDescriptor file(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.get() >= 0 && flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  }
}

/// zlib's window of 32 KiB, with the header of a gzip file around it.
constexpr int gzip_window_bits = MAX_WBITS + 16;
constexpr int usual_memory = 8;

/// Refuses a file that is broken, cut off or followed by anything.
std::string gunzip(std::string_view bytes, std::size_t limit, const std::string& origin) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    const std::size_t before = text.size();
    text.resize(before + (std::size_t{1} << 20));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(text.size() - before);
    state = inflate(&stream, Z_NO_FLUSH);
    text.resize(stream.total_out);
    const bool whole = state == Z_OK || (state == Z_STREAM_END && stream.avail_in == 0);
    if (!whole || text.size() > limit)
      fail(ExitCode::document_malformed,
           "{} is no whole gzip file, or unpacks to more than {} bytes.", clean(origin), limit);
  }
  return text;
}

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

ExitCode code_of_write(int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return full ? ExitCode::output_full : ExitCode::output_unwritable;
}

[[noreturn]] void refuse_lock(const std::string& path, int error) {
  fail(ExitCode::gpu_busy,
       "The GPU's lock file {} cannot be locked ({}): remove it, or give another folder in "
       "FATHOM_LOCK_DIR.",
       path, std::strerror(error));
}

FileDescriptor open_lock_file(const std::string& path) {
  // First without O_CREAT: in a sticky folder the kernel may refuse to "create" another user's file
  // that is there already (fs.protected_regular). O_NOFOLLOW, since anyone may write to /tmp.
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW;
  int fd = open(path.c_str(), O_RDWR | flags);
  if (fd < 0 && errno == ENOENT) {
    fd = open(path.c_str(), O_RDWR | O_CREAT | flags, 0666);
    // For other users, against the umask. If it fails, they still lock a read-only descriptor.
    [[maybe_unused]] const int widened = fd < 0 ? -1 : fchmod(fd, 0666);
  }
  if (fd < 0 && errno == EACCES) fd = open(path.c_str(), O_RDONLY | flags);
  if (fd < 0) refuse_lock(path, errno);
  FileDescriptor file(fd);
  struct stat status {};
  // Anyone may make a pipe there.
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) refuse_lock(path, EINVAL);
  return file;
}

/// Whether the lock is now held through `fd`; also true if its open file held it before.
bool try_lock(int fd, const std::string& path) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) refuse_lock(path, errno);
  }
  return true;
}

/// The process with its command's arguments, among them the folder, by which a user knows the run.
void write_holder(int fd) {
  std::ifstream file("/proc/self/cmdline");
  std::string command((std::istreambuf_iterator<char>(file)), {});
  std::ranges::replace(command, '\0', ' ');
  command.erase(command.find_last_not_of(' ') + 1);  // npos + 1 is 0
  const std::string text = fmt::format("{} ({}, since {})\n", getpid(), quotable(command, 200),
                                       utc_time(std::chrono::system_clock::now()));
  // The lock holds without this text too: it only lets others name the holder.
  [[maybe_unused]] const bool written =
      ftruncate(fd, 0) == 0 && pwrite(fd, text.data(), text.size(), 0) > 0;
}

/// Who holds the lock, as a phrase. A child of the process that is named may outlive it and go on
/// holding the lock.
std::string describe_holder(int fd) {
  constexpr std::size_t longest = 512;
  std::string text(longest, '\0');
  text.resize(std::max<ssize_t>(0, pread(fd, text.data(), longest, 0)));
  const std::string holder = quotable(text.substr(0, text.find('\n')), longest);
  return holder.empty() ? "another process" : fmt::format("process {} or a child of it", holder);
}

/// The parent's lock, if FATHOM_LOCK_FD names a descriptor that is this GPU's lock file and holds
/// it. Anything else (a stale variable, another GPU's lock) is no reason to skip the lock.
FileDescriptor inherited_lock(const std::string& path) {
  const char* text = std::getenv("FATHOM_LOCK_FD");
  const int fd = parse_number<int>(text ? text : "").value_or(-1);
  std::error_code none;
  const bool is_it = fs::equivalent(fmt::format("/proc/self/fd/{}", fd), path, none);
  return FileDescriptor(is_it && try_lock(fd, path) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1);
}

}  // namespace

std::filesystem::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void fail_write(const fs::path& path, int error) {
  fail(code_of_write(error), "{} cannot be written ({}): make room there, or choose another place.",
       path.string(), std::strerror(error));
}

void write_all(int descriptor, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_write(path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  sweep(path);
  std::string name;
  FileDescriptor file;
  do {  // anew where somebody took the file for abandoned before it was locked
    name = fmt::format("{}.{}-{:08x}.tmp", path.string(), getpid(), std::random_device()());
    file = FileDescriptor(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file.get() < 0) fail_write(path, errno);
    flock(file.get(), LOCK_EX);  // until it is closed
  } while (access(name.c_str(), F_OK) != 0);
  try {
    write_all(file.get(), text, path);
    // The text is on the disk before the name points to it.
    if ((fsync(file.get()) != 0 && errno != EINVAL) || rename(name.c_str(), path.c_str()) != 0)
      fail_write(path, errno);
  } catch (const Error&) {
    unlink(name.c_str());
    throw;
  }
}

FileDescriptor create_file(const fs::path& path) {
  // Removed first: a link would be followed, and of a file that somebody still writes to, as an
  // orphan of an earlier run, the text would be mixed into this one's.
  if (unlink(path.c_str()) != 0 && errno != ENOENT) fail_write(path, errno);
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  if (file.get() < 0) fail_write(path, errno);
  return file;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window_bits, usual_memory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, deflateEnd);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);  // ends at once: there is room for all
  bytes.resize(stream.total_out);
  return bytes;
}

std::string read_file_up_to(const fs::path& path, std::size_t limit) {
  const auto require_size = [&](std::size_t size) {
    if (size > limit)
      fail(ExitCode::document_malformed,
           "{}: is larger than {} MiB, larger than any file of its kind: give another.",
           path.string(), limit >> 20);
  };
  std::error_code none;
  // A file that says so itself is not read at all.
  if (fs::is_regular_file(path, none)) require_size(fs::file_size(path, none));
  std::ifstream file(path, std::ios::binary);
  std::string text;
  // Not by the size that the file claims: a pipe claims none, and others lie.
  for (std::vector<char> piece(1 << 20); file;) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    require_size(text.size());
  }
  if (!file.eof())
    fail(ExitCode::bad_input, "{} cannot be read ({}): give the path of a file that can be.",
         path.string(), std::strerror(errno));
  return path.extension() == ".gz" ? gunzip(text, limit, path.string()) : text;
}

OutputFile::OutputFile(const fs::path& named) : named_(named), file_(behind_links(named)) {
  if (replaces(named)) {
    if (access(folder_of(file_).c_str(), W_OK) != 0) fail_write(named, errno);
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

void require_distinct(const NamedFiles& inputs, const NamedFiles& outputs) {
  if (std::ranges::all_of(outputs, [](const auto& file) { return file.second.empty(); })) return;
  std::map<FileId, std::string> read, written;
  std::error_code none;
  for (const auto& [name, path] : inputs)
    if (const auto id = id_of(path))
      read.try_emplace(*id, fmt::format("{} {}", name, path.string()));
  if (fs::is_regular_file(standard_output, none))
    if (const auto id = id_of(standard_output)) written[*id] = "standard output";
  for (const auto& [name, path] : outputs) {
    const auto id = path.empty() ? std::nullopt : id_of(path);
    const fs::file_status status = fs::status(behind_links(path), none);
    // One name of a device or a socket, as of a terminal, is for reading and writing.
    if (!id || fs::is_character_file(status) || fs::is_socket(status)) continue;
    // What goes to a FIFO or to /dev/stdout destroys nothing that went there before.
    const bool destroys = replaces(path);
    for (const auto* others : {&read, &written})
      if (const auto other = others->find(*id);
          other != others->end() && (others == &read || destroys))
        fail(ExitCode::bad_input,
             "{} {} is the same file as {}: give another; nothing was written.", name,
             path.string(), other->second);
    if (destroys) written[*id] = fmt::format("{} {}", name, path.string());
  }
}

FileDescriptor lock_gpu(const std::string& gpu_uuid_hash, std::chrono::seconds longest_wait,
                        const std::function<void(const std::string& holder)>& on_wait) {
  // Not XDG_RUNTIME_DIR: that is one per user, and two users must see each other's lock.
  const char* folder = std::getenv("FATHOM_LOCK_DIR");
  const std::string path =
      fmt::format("{}/fathom-gpu-{}.lock", folder ? folder : "/tmp", gpu_uuid_hash);
  if (FileDescriptor inherited = inherited_lock(path); inherited.get() >= 0) return inherited;
  FileDescriptor lock = open_lock_file(path);
  const auto deadline = std::chrono::steady_clock::now() + longest_wait;
  bool told = false;
  while (!try_lock(lock.get(), path)) {
    if (std::chrono::steady_clock::now() >= deadline)
      fail(ExitCode::gpu_busy,
           "The GPU is in use by {}: end it, start again later, or wait for it with --wait.",
           describe_holder(lock.get()));
    if (!std::exchange(told, true) && on_wait) on_wait(describe_holder(lock.get()));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  write_holder(lock.get());
  return lock;
}

std::string share_with_children(const FileDescriptor& lock) {
  fcntl(lock.get(), F_SETFD, 0);
  return std::to_string(lock.get());
}

void open_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0 && errno == EBADF) open("/dev/null", O_RDWR);
}

void end_on_interrupts() {
  // Only what a signal handler may do: what is half done lies in files that nobody reads.
  const auto end = [](int) { _exit(to_int(ExitCode::interrupted)); };
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(number, end) == SIG_IGN) std::signal(number, SIG_IGN);
}

void print_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_line(std::string_view text) { print_out(clean(text) + "\n"); }

void require_written_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  const int error = errno;  // 0: an earlier one, of which the number is gone
  pollfd output{STDOUT_FILENO, 0, 0};
  if (error == EPIPE || (poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0)) return;
  fail(error == 0 ? ExitCode::output_full : code_of_write(error),
       "The answer could not be written to standard output{}: make room there, or send it "
       "elsewhere.",
       error == 0 ? "" : fmt::format(" ({})", std::strerror(error)));
}

}  // namespace fathom
