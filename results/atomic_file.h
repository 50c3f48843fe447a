#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "results/exit_codes.h"
#include "results/file_descriptor.h"

namespace fathom {

// What is written into folders of Fathom's own: documents, pages, pictures, logs. Nothing here
// follows a link: a link of the name gives way to the file, and what it names stays as it is. Files
// that somebody names one by one are results/output_file.h's.

/// Replaces a file in one step: whoever reads it, and whatever crashes, finds the old text or the
/// new one. The new text is first in a file beside it, "<name>.<process>-<random>.tmp", since
/// processes in two containers may have one number; those that killed processes left are removed.
/// Throws Error(output_unwritable) or Error(output_full), and leaves the old file then.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Throws as write_file_atomically would where the file beside it cannot be made. Leaves no file.
void require_writable_atomically(const std::filesystem::path& path);

/// A new and empty file, open for appending; what had the name is gone. Throws as above.
FileDescriptor create_file(const std::filesystem::path& path);

/// All of the text. Throws as above, and names `path`.
void write_all(int descriptor, std::string_view text, const std::filesystem::path& path);

/// The same with why as a number of errno's, and the code for it.
[[noreturn]] void fail_write(const std::filesystem::path& path, int error);
ExitCode code_of_write(int error);

/// Whether a name is that of a file beside `target` from which it was to become.
bool is_unfinished(const std::string& name, const std::string& target);

/// Removes an unfinished file unless a process still writes it: each holds a lock on its own. On
/// storage that knows no locks it stays.
void remove_abandoned(const std::filesystem::path& unfinished);

/// The folder of a path, "." where it names none.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// The whole text of a file or pipe, unpacked if its name ends with ".gz". Throws Error(bad_input)
/// if it cannot be read, and Error(document_malformed) if it is larger than `limit` bytes, without
/// having read more.
std::string read_file_up_to(const std::filesystem::path& path, std::size_t limit);

}  // namespace fathom
