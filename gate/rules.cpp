#include "gate/decision.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <stdexcept>

// The parser asserts what a wrong file can break ("[[[" does), and with NDEBUG takes it for
// granted. Compiled here, it refuses such a file instead.
#undef NDEBUG
#undef TOML_SHARED_LIB
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(condition)                                          \
  do {                                                                  \
    if (!(condition)) throw std::invalid_argument("not expected here"); \
  } while (false)
#define TOML_ENABLE_FORMATTERS 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wterminate"  // in functions that no file can reach
#include <toml++/toml.h>
#pragma GCC diagnostic pop

#include "results/files.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

constexpr std::size_t size_limit = 1 << 20;
constexpr std::size_t longest = 500;  ///< of what a sentence quotes

/// The parser's tables of letters outside ASCII lead to undefined behaviour for some: it gets each
/// such byte, and '~' itself, as "~HH", which stands for itself in a string and nowhere else.
std::string to_ascii(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && c != '~')
      escaped += c;
    else
      escaped += fmt::format("~{:02X}", byte);
  }
  return escaped;
}

std::string from_ascii(std::string_view escaped) {
  std::string text;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = escaped.data() + i + 1;
    if (escaped[i] == '~' && i + 2 < escaped.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      text += static_cast<char>(byte);
      i += 2;
    } else {
      text += escaped[i];  // of an escape in the file, "\u007E"
    }
  }
  return text;
}

[[noreturn]] void refuse(const std::string& origin, std::size_t line, const std::string& what) {
  fail(ExitCode::bad_input, "{}, line {}: {}.", origin, line, quotable(from_ascii(what), longest));
}

[[noreturn]] void refuse_key(const std::string& origin, const toml::node& at,
                             std::string_view key) {
  refuse(origin, at.source().begin.line,
         fmt::format("`{}` is not as expected: a rule is a table [[metric]] with `name` and "
                     "`reason`, and either `threshold`, a number above 0 and below 1 (for 3 % "
                     "write 0.03), or `ignore = true`",
                     key));
}

Rule rule_of(const toml::table& table, const std::string& origin) {
  Rule rule;
  for (const auto& [key, value] : table) {
    const std::string_view word = key.str();
    const auto text = value.value_exact<std::string>();
    const bool is_text = text && text->find_first_not_of(" \t\r\n") != std::string::npos;
    const double number = value.is_number() ? value.value<double>().value_or(0) : 0;
    if (word == "name" && is_text)
      rule.pattern = from_ascii(*text);
    else if (word == "reason" && is_text)
      rule.reason = from_ascii(*text);
    else if (word == "ignore" && value.is_boolean())
      rule.ignore = *value.value<bool>();
    else if (word == "threshold" && number > 0 && number < 1)
      rule.threshold = number;
    else
      refuse_key(origin, value, word);
  }
  if (rule.pattern.empty()) refuse_key(origin, table, "name");
  if (rule.reason.empty()) refuse_key(origin, table, "reason");
  if (rule.ignore == rule.threshold.has_value()) refuse_key(origin, table, "threshold");
  return rule;
}

}  // namespace

Rules parse_rules(std::string_view text, const std::string& origin) {
  if (!simdjson::validate_utf8(text.data(), text.size()))
    fail(ExitCode::bad_input, "{} is not UTF-8, which TOML is.", origin);
  Rules rules;
  try {
    const toml::table file = toml::parse(to_ascii(without_byte_order_mark(text)), origin);
    for (const auto& [key, value] : file) {
      if (key.str() != "metric" || !value.is_array_of_tables())
        refuse_key(origin, value, key.str());
      for (const toml::node& item : *value.as_array())
        rules.push_back(rule_of(*item.as_table(), origin));
    }
  } catch (const toml::parse_error& error) {
    refuse(origin, error.source().begin.line, fmt::format("is not TOML: {}", error.description()));
  } catch (const std::invalid_argument&) {
    fail(ExitCode::bad_input, "{} is not TOML.", origin);
  }
  return rules;
}

Rules read_rules(const std::filesystem::path& path) {
  return parse_rules(read_file_up_to(path, size_limit), path.string());
}

}  // namespace fathom::gate
