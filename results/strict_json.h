#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fathom {

/// The text behind a byte order mark, which some editors and shells put before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

/// The value of one strict JSON text. Refuses what ParsedJson and Fields (json_fields.h) refuse,
/// and more than 20 million values. `expected` is what the text should be.
nlohmann::json parse_strict_json(std::string_view text, const std::string& origin,
                                 const std::string& expected = "a result document");

}  // namespace fathom
