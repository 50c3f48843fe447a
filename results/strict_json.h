#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fathom {

/// The text behind a byte order mark, which some editors and shells put before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

/// Requires one strict JSON value. Hostile input costs time in proportion to its size, and bounded
/// memory and stack: besides what is not JSON, refuses nesting deeper than 64 levels, an object
/// with a repeated key or more than 1,000 keys, and more than 20 million values. Throws
/// Error(document_malformed) naming `origin`, the fault with its place (of what is no JSON its line
/// and column) and `expected`, what the text should be. A byte order mark before it is passed over.
void require_strict_json(std::string_view text, const std::string& origin,
                         const std::string& expected = "a result document");

/// The value; throws as above.
nlohmann::json parse_strict_json(std::string_view text, const std::string& origin,
                                 const std::string& expected = "a result document");

}  // namespace fathom
