#include "results/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "results/clean_text.h"
#include "results/error.h"
#include "results/format.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_keys = 1000;
constexpr std::size_t max_values = 20'000'000;
constexpr std::size_t max_quoted = 160;

[[noreturn]] void refuse(const std::string& origin, const std::string& what) {
  throw Error(ExitCode::document_malformed, fmt::format("{}: {}", origin, what));
}

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
  return quotable(words, max_quoted);
}

/// Builds the value from the parser's events, and watches for what JSON's grammar allows and no
/// result has: of a key that is there twice the library would keep one.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& origin, const std::string& expected)
      : text_(text), origin_(origin), expected_(expected) {}

  Json root;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // no text has any
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Json& object = *open_.back();
    const auto [member, added] = object.emplace(name, nullptr);
    if (!added) {
      const std::string where = path();
      refuse(origin_, fmt::format("{} has the key \"{}\" twice; each key may be there once.",
                                  where.empty() ? "the outermost object" : where,
                                  quotable(name, max_quoted)));
    }
    if (object.size() > max_keys) {
      refuse(origin_,
             fmt::format("the object {} has more than {} keys, more than any of Fathom's: give {}.",
                         path(), max_keys, expected_));
    }
    member_ = &*member;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const Json::exception& error) override {
    if (dynamic_cast<const Json::parse_error*>(&error))
      refuse(origin_, fmt::format("is not JSON at {}: {}; it may be truncated, or not {}.",
                                  place(text_, byte), reason(error), expected_));
    refuse(origin_,
           fmt::format("is not strict JSON: {}; {} was expected.", reason(error), expected_));
  }

 private:
  bool add(Json value) {
    put(std::move(value), 1);
    return true;
  }

  /// Where the value is then: the root, the next element, or the member whose key came before it.
  Json* put(Json value, std::size_t cost) {
    cost_ += cost;
    if (cost_ > max_values) {
      refuse(origin_,
             fmt::format("holds more than {} values, more than any file of Fathom's: give {}.",
                         max_values, expected_));
    }
    if (open_.empty()) member_ = &root;
    if (!open_.empty() && open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    *member_ = std::move(value);
    return member_;
  }

  bool open(Json value) {
    if (open_.size() == max_depth) {
      refuse(origin_,
             fmt::format("nests deeper than {} levels, deeper than any file of Fathom's: give {}.",
                         max_depth, expected_));
    }
    constexpr std::size_t memory_in_values = 8;
    open_.push_back(put(std::move(value), memory_in_values));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  /// Of the object or array that is open; of a long one the end, which says more.
  std::string path() const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      if (open_[i]->is_array()) {
        path += fmt::format("/{}", open_[i]->size() - 1);
        continue;
      }
      for (const auto& member : open_[i]->items())
        if (&member.value() == open_[i + 1]) path += "/" + quotable(member.key(), max_quoted);
    }
    if (path.size() > max_quoted) path.replace(0, path.size() - max_quoted, "...");
    return path;
  }

  std::string_view text_;
  const std::string& origin_;
  const std::string& expected_;
  std::vector<Json*> open_;  ///< objects and arrays
  Json* member_ = nullptr;
  std::size_t cost_ = 0;
};

/// Asks for it beforehand: the library's values need memory to be destroyed, and end the program
/// where there is none.
void require_memory(std::size_t bytes, const std::string& origin) {
  constexpr std::size_t of_each_byte = 4;  // a result document's 16 MB take 46 MiB
  try {
    std::string().reserve(of_each_byte * bytes);
  } catch (const std::bad_alloc&) {
    refuse(origin, fmt::format("there is too little memory to read its {} bytes.", bytes));
  }
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

bool is_utf8(std::string_view text) {
  try {
    Json(text).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

Json parse_strict_json(std::string_view text, const std::string& origin,
                       const std::string& expected) {
  text = without_byte_order_mark(text);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    refuse(origin, fmt::format("is empty; {} (JSON) was expected.", expected));
  }
  require_memory(text.size(), origin);
  Builder builder(text, origin, expected);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder.root);
}

}  // namespace fathom
