#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace fathom {

/// Replaces a file in one step: whoever reads it, and whatever crashes, finds the old text or the
/// new one. The new text is first in a file beside it, "<name>.<process>-<random>.tmp", since
/// processes in two containers may have one number. Throws Error(output_unwritable) or
/// Error(output_full), and leaves the old file then.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Throws as write_file_atomically would where the file beside it cannot be made, or a folder has
/// the name. Leaves no file.
void require_writable_atomically(const std::filesystem::path& path);

/// The whole text of a file or pipe. Throws Error(bad_input) if it cannot be read, and
/// Error(document_malformed) if it is larger than `limit` bytes, without having read more.
std::string read_file_up_to(const std::filesystem::path& path, std::size_t limit);

}  // namespace fathom
