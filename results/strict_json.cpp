#include "results/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/clean_text.h"
#include "results/fail.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_keys = 1000;
constexpr std::size_t max_values = 20'000'000;
constexpr std::size_t max_quoted = 160;

std::string place(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : std::min(byte - 1, text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, before.size() - start + 1);
}

/// The parser's own words on what it met and what it expected, without its class names.
std::string reason(const Json::exception& error) {
  std::string_view words = error.what();
  for (const std::string_view lead : {"] ", " - "})
    if (const auto at = words.find(lead); at != std::string_view::npos)
      words.remove_prefix(at + lead.size());
  return quotable(words, max_quoted);
}

/// Watches the parser's events for what JSON's grammar allows and no result has; keeps nothing
/// else.
class Guard final : public nlohmann::json_sax<Json> {
 public:
  Guard(std::string_view text, const std::string& origin, const std::string& expected)
      : text_(text), origin_(origin), expected_(expected) {}

  bool null() override { return next(); }
  bool boolean(bool) override { return next(); }
  bool number_integer(number_integer_t) override { return next(); }
  bool number_unsigned(number_unsigned_t) override { return next(); }
  bool number_float(number_float_t, const string_t&) override { return next(); }
  bool string(string_t&) override { return next(); }
  bool binary(binary_t&) override { return next(); }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    if (!level.keys.insert(name).second)
      refuse("{} has the key \"{}\" twice; each key may be there once.", path(),
             quotable(name, max_quoted));
    if (level.keys.size() > max_keys)
      refuse("{} has more than {} keys, more than any of Fathom's: give {}.", path(), max_keys,
             expected_);
    level.key = name;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const Json::exception& error) override {
    if (dynamic_cast<const Json::parse_error*>(&error))
      refuse("is not JSON at {}: {}; it may be truncated, or not {}.", place(text_, byte),
             reason(error), expected_);
    refuse("is not strict JSON: {}; {} was expected.", reason(error), expected_);
  }

 private:
  struct Level {
    bool is_object;
    std::size_t elements = 0;
    std::string key{};  ///< the last one
    std::set<std::string> keys{};
  };

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> what, Args&&... args) const {
    fail(ExitCode::document_malformed, "{}: {}", origin_,
         fmt::format(what, std::forward<Args>(args)...));
  }

  /// A value begins, as the next element of the array around it.
  bool next() {
    if (++values_ > max_values)
      refuse("holds more than {} values, more than any file of Fathom's: give {}.", max_values,
             expected_);
    if (!levels_.empty()) ++levels_.back().elements;
    return true;
  }

  bool open(bool is_object) {
    if (levels_.size() == max_depth)
      refuse("nests deeper than {} levels, deeper than any file of Fathom's: give {}.", max_depth,
             expected_);
    next();
    levels_.push_back({is_object});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  /// The object that is open, as "/a/1"; the end of a long path, which says more.
  std::string path() const {
    std::string path;
    for (const Level& level : std::span(levels_).first(levels_.size() - 1))
      path += level.is_object ? "/" + quotable(level.key, max_quoted)
                              : fmt::format("/{}", level.elements - 1);
    if (path.size() > max_quoted) path.replace(0, path.size() - max_quoted, "...");
    return path.empty() ? "the outermost object" : path;
  }

  std::string_view text_;
  const std::string& origin_;
  const std::string& expected_;
  std::vector<Level> levels_;  ///< the objects and arrays that are open
  std::size_t values_ = 0;
};

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

void require_strict_json(std::string_view text, const std::string& origin,
                         const std::string& expected) {
  text = without_byte_order_mark(text);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    fail(ExitCode::document_malformed, "{}: is empty; {} (JSON) was expected.", origin, expected);
  Guard guard(text, origin, expected);
  Json::sax_parse(text.begin(), text.end(), &guard);
}

// In two passes: the library's parser with a callback looks through all elements of an array at the
// end of each object in it.
Json parse_strict_json(std::string_view text, const std::string& origin,
                       const std::string& expected) {
  text = without_byte_order_mark(text);
  require_strict_json(text, origin, expected);
  return Json::parse(text.begin(), text.end());
}

}  // namespace fathom
