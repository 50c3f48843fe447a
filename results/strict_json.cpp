#include "results/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "results/error.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_keys = 1000;
constexpr std::size_t max_values = 20'000'000;
constexpr std::size_t max_quoted = 160;

/// For a sentence on a terminal: printable ASCII, and not more than that of it.
std::string quotable(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, max_quoted)) shown += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > max_quoted ? shown + "..." : shown;
}

[[noreturn]] void refuse(const std::string& origin, const std::string& what) {
  throw Error(ExitCode::document_malformed, fmt::format("{}: {}", origin, what));
}

/// Watches the parser's events for what JSON's grammar allows and no result has.
class Guard {
 public:
  explicit Guard(const std::string& origin) : origin_(origin) {}

  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        open(event == Event::object_start);
        break;
      case Event::key:
        key(parsed.get_ref<const std::string&>());
        break;
      case Event::value:
        next();
        break;
      case Event::object_end:
      case Event::array_end:
        levels_.pop_back();
        break;
    }
    return true;
  }

 private:
  struct Level {
    bool is_object;
    std::size_t index = 0;  ///< of the next element
    std::string key;        ///< the last one
    std::set<std::string> keys;
  };

  /// A value begins, as the next element of the array around it.
  void next() {
    if (++values_ > max_values) {
      refuse(origin_, fmt::format("holds more than {} values, more than any result: give a result "
                                  "document.",
                                  max_values));
    }
    if (!levels_.empty() && !levels_.back().is_object) ++levels_.back().index;
  }

  void open(bool is_object) {
    if (levels_.size() == max_depth) {
      refuse(origin_,
             fmt::format("nests deeper than {} levels, deeper than any result: give a result "
                         "document.",
                         max_depth));
    }
    next();
    levels_.push_back({is_object, 0, {}, {}});
  }

  void key(const std::string& name) {
    Level& level = levels_.back();
    if (!level.keys.insert(name).second) {
      const std::string where = path();
      refuse(origin_, fmt::format("{} has the key \"{}\" twice; each key may be there once.",
                                  where.empty() ? "the outermost object" : where, quotable(name)));
    }
    if (level.keys.size() > max_keys) {
      refuse(origin_,
             fmt::format("the object {} has more than {} keys, more than any result's: give a "
                         "result document.",
                         path(), max_keys));
    }
    level.key = name;
  }

  /// Of the object or array that is open.
  std::string path() const {
    std::string path;
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
      const Level& level = levels_[i];
      path += level.is_object ? "/" + quotable(level.key) : fmt::format("/{}", level.index - 1);
    }
    return path;
  }

  const std::string& origin_;
  std::vector<Level> levels_;
  std::size_t values_ = 0;
};

std::string place(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : std::min(byte - 1, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, before.size() - start + 1);
}

/// The parser's own words on what it met and what it expected, without its class names.
std::string reason(const Json::exception& error) {
  std::string_view words = error.what();
  for (const std::string_view lead : {"] ", " - "}) {
    if (const auto at = words.find(lead); at != std::string_view::npos) {
      words.remove_prefix(at + lead.size());
    }
  }
  return quotable(words);
}

}  // namespace

Json parse_strict_json(std::string_view text, const std::string& origin) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    refuse(origin, "is empty; a result document (JSON) was expected.");
  }
  try {
    return Json::parse(text.begin(), text.end(), Guard(origin));
  } catch (const Json::parse_error& error) {
    refuse(origin,
           fmt::format("is not JSON at {}: {}; it may be truncated or not a result document.",
                       place(text, error.byte), reason(error)));
  } catch (const Json::exception& error) {
    refuse(origin,
           fmt::format("is not strict JSON: {}; a result document was expected.", reason(error)));
  }
}

}  // namespace fathom
