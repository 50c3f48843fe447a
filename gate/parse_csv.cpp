#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "gate/parse.h"
#include "results/clean_text.h"
#include "results/fail.h"
#include "results/parse_number.h"
#include "results/strict_json.h"

// name,unit,better,sample,...: a header, then a line a metric with its samples (RFC 4180).

namespace fathom::gate {
namespace {

constexpr std::string_view header = "name,unit,better,sample";

/// The text's lines, each as its fields.
class CsvLines {
 public:
  CsvLines(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  [[noreturn]] void refuse(const std::string& what) const {
    fail(ExitCode::document_malformed, "{}: line {} {}.", origin_, line_, what);
  }

  /// The fields of the next line that is not empty; false after the last.
  bool next(std::vector<std::string>& fields) {
    do {
      if (text_.empty()) return false;
      fields.clear();
      ++line_;
      while (field(fields))
        ;
    } while (fields.size() == 1 && fields.front().empty());
    return true;
  }

 private:
  /// Takes a field with what ends it; false if that was the end of the line.
  bool field(std::vector<std::string>& fields) {
    std::string value;
    if (text_.starts_with('"')) {
      for (bool first = true; text_.starts_with('"'); first = false) {
        if (!first) value += '"';  // two are one of the text's own
        text_.remove_prefix(1);
        const std::size_t end = text_.find('"');
        if (end == std::string_view::npos) refuse("has a quote that nothing closes");
        value += text_.substr(0, end);
        text_.remove_prefix(end + 1);
      }
      if (!text_.empty() && text_.find_first_of(",\r\n") != 0)
        refuse("has text after a closing quote");
    } else {
      const std::size_t end = std::min(text_.find_first_of(",\r\n"), text_.size());
      value = text_.substr(0, end);
      text_.remove_prefix(end);
    }
    constexpr std::size_t most_fields = 1'000'000;
    if (fields.size() >= most_fields) refuse("has more samples than any measurement");
    fields.push_back(std::move(value));
    if (text_.starts_with("\r\n")) text_.remove_prefix(1);
    const bool more = text_.starts_with(',');
    if (!text_.empty()) text_.remove_prefix(1);
    return more;
  }

  std::string_view text_;
  const std::string& origin_;
  std::size_t line_ = 0;
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

double sample_of(std::string_view text, const CsvLines& lines) {
  const auto value = parse_number<double>(trimmed(text));
  if (!value || !std::isfinite(*value))
    lines.refuse(fmt::format("has the sample \"{}\"; expected: a number", quotable(trimmed(text))));
  return *value;
}

}  // namespace

bool is_csv(std::string_view text) {
  return without_byte_order_mark(text).starts_with("name,unit,better,");
}

void parse_csv(std::string_view text, RunMetrics& run, PooledMetrics& metrics) {
  CsvLines lines(without_byte_order_mark(text), run.origin);
  std::vector<std::string> fields;
  lines.next(fields);
  if (fields.size() < 4 || trimmed(fields[3]) != "sample")
    lines.refuse(fmt::format("does not begin \"{}\", which the header of a result does", header));
  run.identity = identity_of_program("csv");
  const Place place{&run.origin};
  constexpr std::size_t most_lines = 200'000;
  std::unordered_set<std::string> names;
  while (lines.next(fields)) {
    if (names.size() == most_lines) lines.refuse("is one more than any run has");
    if (fields.size() < 4) lines.refuse("has no sample");
    const auto better = from_string<Better>(trimmed(fields[2]));
    if (!better) lines.refuse("says neither \"higher\" nor \"lower\" in its third column");
    const std::string name = clean(fields[0]);
    if (!names.insert(name).second)
      lines.refuse(fmt::format(
          "has \"{}\" again; expected: one line a metric, with all its samples", quotable(name)));
    std::vector<double> samples;
    for (std::size_t i = 3; i < fields.size(); ++i)
      if (!trimmed(fields[i]).empty()) samples.push_back(sample_of(fields[i], lines));
    metrics.add({name, clean(trimmed(fields[1])), *better, std::move(samples)}, place);
  }
  if (names.empty())
    place.refuse("is a header without a metric; expected: a line a metric below it");
}

}  // namespace fathom::gate
