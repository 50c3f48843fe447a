#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/file_descriptor.h"

namespace fathom {

/// A file that somebody named for an output, as with --json FILE. Links are followed, and the file
/// behind them is replaced in one step. What is no regular file is written to: a device, a FIFO,
/// /dev/stdout.
class OutputFile {
 public:
  /// Opens what is no regular file, and waits for a FIFO's reader; beside a file it makes another
  /// for a moment. Throws as `write` would where it cannot be written at all.
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

struct NamedFile {
  std::string name;  ///< how it was given: "--json"
  std::filesystem::path path;
};

/// Throws Error(bad_input) where an output is also an input or another output, by whatever path or
/// link: one would destroy the other. Also where a file is standard output's. Opens nothing. An
/// output with an empty path is none.
void require_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

}  // namespace fathom
