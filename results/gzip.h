#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

/// The text as a gzip file (RFC 1952) without name and time, so that one text always gives the same
/// bytes.
std::string gzip(std::string_view text);

/// The text of a gzip file. Throws Error(document_malformed), which names `origin`, if the file is
/// broken, cut off or followed by anything, or if its text is larger than `limit` bytes; no more
/// than that is unpacked.
std::string gunzip(std::string_view bytes, std::size_t limit, const std::string& origin);

}  // namespace fathom
