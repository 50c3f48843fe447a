#include "gate/rules.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <simdjson.h>

#include <charconv>
#include <cmath>
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
#include "results/error.h"
#include "results/strict_json.h"
#include "results/suggestion.h"

namespace fathom::gate {
namespace {

constexpr std::size_t size_limit = 1 << 20;

/// For a sentence on a terminal: what the file holds of other characters goes there as '?'.
std::string printable(std::string_view text) {
  constexpr std::size_t longest = 500;
  std::string shown(text.substr(0, longest));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return shown;
}

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

class Reader {
 public:
  explicit Reader(const std::string& origin) : origin_(origin) {}

  Rules read(const toml::table& file) const {
    Rules rules;
    for (const auto& [key, value] : file) {
      if (key.str() != "metric") refuse(value, unknown(std::string(key.str()), {"metric"}));
      const toml::array* list = value.as_array();
      if (!list) refuse(value, "`metric` is not a list of tables; expected: [[metric]]");
      for (const toml::node& item : *list) rules.push_back(rule(item));
    }
    return rules;
  }

 private:
  [[noreturn]] void refuse(const toml::node& at, const std::string& what) const {
    throw Error(ExitCode::bad_input,
                fmt::format("{}, line {}: {}.", origin_, at.source().begin.line,
                            printable(from_ascii(what))));
  }

  static std::string unknown(const std::string& key, const std::vector<std::string>& known) {
    return fmt::format("there is no key `{}`.{} A rule has name, threshold or ignore, and reason",
                       key, did_you_mean(key, known));
  }

  std::string text(const toml::node& at, const char* key) const {
    const auto value = at.value<std::string>();
    if (!at.is_string() || !value || value->find_first_not_of(" \t\r\n") == std::string::npos)
      refuse(at, fmt::format("`{}` is not a text, or an empty one", key));
    return from_ascii(*value);
  }

  Rule rule(const toml::node& at) const {
    const toml::table* table = at.as_table();
    if (!table) refuse(at, "`metric` holds something else than tables; expected: [[metric]]");
    Rule rule;
    for (const auto& [key, value] : *table) {
      if (key.str() == "name") {
        rule.pattern = text(value, "name");
      } else if (key.str() == "reason") {
        rule.reason = text(value, "reason");
      } else if (key.str() == "ignore") {
        if (!value.is_boolean()) refuse(value, "`ignore` is neither true nor false");
        rule.ignore = *value.value<bool>();
      } else if (key.str() == "threshold") {
        rule.threshold = threshold(value);
      } else {
        refuse(value, unknown(std::string(key.str()), {"name", "reason", "ignore", "threshold"}));
      }
    }
    if (rule.pattern.empty()) refuse(at, "this rule has no `name`");
    if (rule.reason.empty())
      refuse(at,
             fmt::format("the rule for `{}` has no `reason`: say why it is there", rule.pattern));
    if (rule.ignore == rule.threshold.has_value())
      refuse(at, fmt::format("the rule for `{}` needs either `threshold` or `ignore = true`",
                             rule.pattern));
    return rule;
  }

  double threshold(const toml::node& at) const {
    const auto value = at.is_number() ? at.value<double>() : std::nullopt;
    if (!value || !(*value > 0 && *value < 100))
      refuse(at, "`threshold` is not a number above 0 and below 1; 0.03 means 3 %");
    // Nobody wants to hear of what became twice as slow only, and many think in percent.
    if (*value >= 1)
      refuse(at, fmt::format("`threshold = {0}` would be {1:.6g} %; for {0} % write {2:.6g}",
                             *value, 100 * *value, *value / 100));
    return *value;
  }

  const std::string& origin_;
};

}  // namespace

Rules parse_rules(std::string_view text, const std::string& origin) {
  if (!simdjson::validate_utf8(text.data(), text.size()))
    throw Error(ExitCode::bad_input, fmt::format("{} is not UTF-8, which TOML is.", origin));
  text = without_byte_order_mark(text);
  try {
    return Reader(origin).read(toml::parse(to_ascii(text), origin));
  } catch (const toml::parse_error& error) {
    throw Error(ExitCode::bad_input,
                fmt::format("{}, line {}: is not TOML: {}.", origin, error.source().begin.line,
                            printable(from_ascii(error.description()))));
  } catch (const std::invalid_argument&) {
    throw Error(ExitCode::bad_input, fmt::format("{} is not TOML.", origin));
  }
}

Rules read_rules(const std::filesystem::path& path) {
  return parse_rules(read_file_up_to(path, size_limit), path.string());
}

const Rule* find_rule(const Rules& rules, const std::string& metric) {
  for (const Rule& rule : rules) {
    if (fnmatch(rule.pattern.c_str(), metric.c_str(), 0) == 0) return &rule;
  }
  return nullptr;
}

}  // namespace fathom::gate
