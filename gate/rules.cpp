#include "gate/rules.h"

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

#include "results/atomic_file.h"
#include "results/clean_text.h"
#include "results/error.h"
#include "results/strict_json.h"
#include "results/suggestion.h"

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

[[noreturn]] void refuse_rules(const std::string& origin, const std::string& what) {
  throw Error(ExitCode::bad_input, origin + what + ".");
}

class Reader {
 public:
  explicit Reader(const std::string& origin) : origin_(origin) {}

  Rules read(const toml::table& file) const {
    Rules rules;
    for (const auto& [key, value] : file) {
      if (key.str() != "metric") refuse_key(value, key.str(), {"metric"});
      const toml::array* list = value.as_array();
      if (!list) refuse_at(value, "`metric` is not a list of tables; expected: [[metric]]");
      for (const toml::node& item : *list) rules.push_back(rule(item));
    }
    return rules;
  }

 private:
  [[noreturn]] void refuse_at(const toml::node& at, const std::string& what) const {
    refuse_rules(origin_, fmt::format(", line {}: {}", at.source().begin.line,
                                      quotable(from_ascii(what), longest)));
  }

  [[noreturn]] void refuse_key(const toml::node& at, std::string_view key,
                               const std::vector<std::string>& known) const {
    refuse_at(at, fmt::format("there is no key `{}`.{} A rule has name, threshold or ignore, and "
                              "reason",
                              key, did_you_mean(std::string(key), known)));
  }

  std::string text(const toml::node& at, std::string_view key) const {
    const auto value = at.value<std::string>();
    if (!at.is_string() || !value || value->find_first_not_of(" \t\r\n") == std::string::npos)
      refuse_at(at, fmt::format("`{}` is not a text, or an empty one", key));
    return from_ascii(*value);
  }

  Rule rule(const toml::node& at) const {
    const toml::table* table = at.as_table();
    if (!table) refuse_at(at, "`metric` holds something else than tables; expected: [[metric]]");
    Rule rule;
    for (const auto& [key, value] : *table) {
      if (key.str() == "name") {
        rule.pattern = text(value, key.str());
      } else if (key.str() == "reason") {
        rule.reason = text(value, key.str());
      } else if (key.str() == "ignore") {
        if (!value.is_boolean()) refuse_at(value, "`ignore` is neither true nor false");
        rule.ignore = *value.value<bool>();
      } else if (key.str() == "threshold") {
        rule.threshold = threshold(value);
      } else {
        refuse_key(value, key.str(), {"name", "reason", "ignore", "threshold"});
      }
    }
    if (rule.pattern.empty()) refuse_at(at, "this rule has no `name`");
    const std::string which = fmt::format("the rule for `{}` ", rule.pattern);
    if (rule.reason.empty()) refuse_at(at, which + "has no `reason`: say why it is there");
    if (rule.ignore == rule.threshold.has_value())
      refuse_at(at, which + "needs either `threshold` or `ignore = true`");
    return rule;
  }

  double threshold(const toml::node& at) const {
    const auto value = at.is_number() ? at.value<double>() : std::nullopt;
    if (!value || !(*value > 0 && *value < 100))
      refuse_at(at, "`threshold` is not a number above 0 and below 1; 0.03 means 3 %");
    // Nobody wants to hear of what became twice as slow only, and many think in percent.
    if (*value >= 1)
      refuse_at(at, fmt::format("`threshold = {0}` would be {1:.6g} %; for {0} % write {2:.6g}",
                                *value, 100 * *value, *value / 100));
    return *value;
  }

  const std::string& origin_;
};

}  // namespace

Rules parse_rules(std::string_view text, const std::string& origin) {
  if (!simdjson::validate_utf8(text.data(), text.size()))
    refuse_rules(origin, " is not UTF-8, which TOML is");
  text = without_byte_order_mark(text);
  try {
    return Reader(origin).read(toml::parse(to_ascii(text), origin));
  } catch (const toml::parse_error& error) {
    refuse_rules(origin, fmt::format(", line {}: is not TOML: {}", error.source().begin.line,
                                     quotable(from_ascii(error.description()), longest)));
  } catch (const std::invalid_argument&) {
    refuse_rules(origin, " is not TOML");
  }
}

Rules read_rules(const std::filesystem::path& path) {
  return parse_rules(read_file_up_to(path, size_limit), path.string());
}

}  // namespace fathom::gate
