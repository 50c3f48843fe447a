#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/error.h"

namespace fathom {

/// Owns a file descriptor; -1 is none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  /// Closes, and does not unlock: that would take a lock from children that inherited it as well.
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int get() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

// What is written into folders of Fathom's own: documents, pages, pictures, logs. It follows no
// link: a link of the name gives way to the file, and what it names stays as it is. Files that
// somebody names one by one are OutputFile's.

/// Replaces a file in one step: whoever reads it, and whatever crashes, finds the old text or the
/// new one. The new text is first in a file beside it, "<name>.<process>-<random>.tmp", since
/// processes in two containers may have one number; those that killed processes left are removed.
/// Throws Error(output_unwritable) or Error(output_full), and leaves the old file then.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// A new and empty file, open for appending; what had the name is gone. Throws as above.
FileDescriptor create_file(const std::filesystem::path& path);

/// All of the text. Throws as above, and names `path`.
void write_all(int descriptor, std::string_view text, const std::filesystem::path& path);

/// The same with why as a number of errno's.
[[noreturn]] void fail_write(const std::filesystem::path& path, int error);

/// The folder of a path, "." where it names none.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// The text as a gzip file (RFC 1952) without name and time, so that one text always gives the same
/// bytes.
std::string gzip(std::string_view text);

/// The whole text of a file or pipe, unpacked if its name ends with ".gz". Throws Error(bad_input)
/// if it cannot be read, and Error(document_malformed) if it is no whole gzip file or if it or its
/// text is larger than `limit` bytes, without having read or unpacked more.
std::string read_file_up_to(const std::filesystem::path& path, std::size_t limit);

/// A file that somebody named for an output, as with --json FILE. Links are followed, and the file
/// behind them is replaced in one step. What is no regular file is written to: a device, a FIFO,
/// /dev/stdout.
class OutputFile {
 public:
  /// Opens what is no regular file, and waits for a FIFO's reader. Throws as `write` would where
  /// there is no such folder or it may not be written.
  explicit OutputFile(const std::filesystem::path& named);

  /// Whether what is written has gone to somebody at once, and nothing can be replaced.
  bool is_stream() const { return stream_.get() >= 0; }
  /// Whether it goes where standard output goes.
  bool is_standard_output() const;

  /// Replaces the file; a stream gets the text after what it had. Throws Error(output_unwritable)
  /// or Error(output_full).
  void write(std::string_view text);

 private:
  std::filesystem::path named_;
  std::filesystem::path file_;  ///< behind all links
  FileDescriptor stream_;
};

/// The file that a flag names; nothing for an empty path.
std::optional<OutputFile> writable_output(const std::filesystem::path& named);

/// Adds to the end of a file that somebody named; makes it where there is none. Throws as above.
void append_to_file(const std::filesystem::path& path, std::string_view text);

/// Files by how they were given: "--json".
using NamedFiles = std::vector<std::pair<std::string, std::filesystem::path>>;

/// Throws Error(bad_input) where an output is also an input or another output, by whatever path or
/// link: one would destroy the other. Also where a file is standard output's. Opens nothing. An
/// output with an empty path is none.
void require_distinct(const NamedFiles& inputs, const NamedFiles& outputs);

// The lock of a GPU.

/// One GPU job at a time per device: an advisory lock on a file named for the GPU, which says who
/// holds it. It lies in /tmp (or FATHOM_LOCK_DIR), so that users see each other; containers with a
/// /tmp of their own do not. Where FATHOM_LOCK_FD names a descriptor with this lock, as a parent
/// set it, that one is used. Throws Error(gpu_busy) naming the holder if the lock is still held
/// after `longest_wait`. `on_wait` is called once, with who holds it, before a wait.
FileDescriptor lock_gpu(const std::string& gpu_uuid_hash, std::chrono::seconds longest_wait = {},
                        const std::function<void(const std::string& holder)>& on_wait = {});

/// Makes a lock inheritable and returns the text for FATHOM_LOCK_FD.
std::string share_with_children(const FileDescriptor& lock);

// The standard streams.

/// Opens on /dev/null those of standard input, output and error that are closed: the next file to
/// be opened would take their numbers, and what is meant for a terminal would go into it.
void open_standard_streams();

/// SIGINT, SIGTERM and SIGHUP end this process with ExitCode::interrupted, where nobody collects
/// them; those that are ignored, as under nohup, stay so.
void end_on_interrupts();

/// To standard output at once. Never throws: require_written_output says what was lost.
void print_out(std::string_view text);

/// The same with one line, which clean() makes of `text`.
void print_line(std::string_view text);

/// Throws Error(output_full) or Error(output_unwritable) if any of what was printed was lost. A
/// reader that has gone away (`fathom list | head`) had what it wanted.
void require_written_output();

// The build of a program, and what those who start it tell it.

/// "0.2.0", and the commit this program was built from ("1a2b3c4d", with "-dirty" behind it where
/// the tree had changes, "unknown" outside a git checkout).
const char* version();
const char* commit();

// Environment variables by which those who start probes say what they have no use for. Variables
// and no flags, since the gate sets them for builds of before them, which do not know them.

/// "1": leave out the cases that only hardware counters can decide.
inline constexpr const char* timed_only_variable = "FATHOM_CHECK_TIMED_ONLY";
/// Seconds for which a case is sampled at most, instead of the suite's; --time-limit counts above
/// it.
inline constexpr const char* sampling_limit_variable = "FATHOM_CHECK_SAMPLING_LIMIT";

}  // namespace fathom
