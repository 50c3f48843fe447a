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

/// Takes the next line of a text, as its fields. `refuse` is told what is wrong in it.
std::vector<std::string> take_line(std::string_view& text, const auto& refuse) {
  constexpr std::size_t most_fields = 1'000'000;
  constexpr std::string_view ends = ",\r\n";
  std::vector<std::string> fields;
  for (bool more = true; more;) {
    std::string value;
    if (text.starts_with('"')) {
      for (bool first = true; text.starts_with('"'); first = false) {
        if (!first) value += '"';  // two are one of the text's own
        text.remove_prefix(1);
        const std::size_t end = text.find('"');
        if (end == std::string_view::npos) refuse("has a quote that nothing closes");
        value += text.substr(0, end);
        text.remove_prefix(end + 1);
      }
      if (!text.empty() && text.find_first_of(ends) != 0) refuse("has text after a closing quote");
    } else {
      value = text.substr(0, text.find_first_of(ends));
      text.remove_prefix(value.size());
    }
    if (fields.size() >= most_fields) refuse("has more samples than any measurement");
    fields.push_back(std::move(value));
    if (text.starts_with("\r\n")) text.remove_prefix(1);
    more = text.starts_with(',');
    if (!text.empty()) text.remove_prefix(1);
  }
  return fields;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool is_csv(std::string_view text) {
  return without_byte_order_mark(text).starts_with("name,unit,better,");
}

void parse_csv(std::string_view text, RunMetrics& run, PooledMetrics& metrics) {
  text = without_byte_order_mark(text);
  std::size_t line = 1;
  const auto refuse = [&](const std::string& what) {
    fail(ExitCode::document_malformed, "{}: line {} {}.", run.origin, line, what);
  };
  if (const auto header = take_line(text, refuse); trimmed(header[3]) != "sample")
    refuse("does not begin \"name,unit,better,sample\", which the header of a result does");
  run.identity = identity_of_program("csv");
  const Place place{&run.origin};
  constexpr std::size_t most_lines = 200'000;
  std::unordered_set<std::string> names;
  while (!text.empty()) {
    ++line;
    const std::vector<std::string> fields = take_line(text, refuse);
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (names.size() == most_lines) refuse("is one more than any run has");
    if (fields.size() < 4) refuse("has no sample");
    const auto better = from_string<Better>(trimmed(fields[2]));
    if (!better) refuse("says neither \"higher\" nor \"lower\" in its third column");
    SampleRow row{{clean(fields[0]), clean(trimmed(fields[1])), *better}};
    if (!names.insert(row.metric.name).second)
      refuse(fmt::format("has \"{}\" again; expected: one line a metric, with all its samples",
                         quotable(row.metric.name)));
    for (std::size_t i = 3; i < fields.size(); ++i) {
      const std::string_view sample = trimmed(fields[i]);
      if (sample.empty()) continue;
      const auto value = parse_number<double>(sample);
      if (!value || !std::isfinite(*value))
        refuse(fmt::format("has the sample \"{}\"; expected: a number", quotable(sample)));
      row.samples.push_back(*value);
    }
    metrics.add(std::move(row), place);
  }
  if (names.empty())
    place.refuse("is a header without a metric; expected: a line a metric below it");
}

}  // namespace fathom::gate
