#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "gate/parse.h"
#include "results/fail.h"
#include "results/names.h"
#include "results/statistics.h"
#include "results/text.h"
#include "results/verdict.h"

// Fathom's own formats: its result document, and the CSV in which anybody may write metrics: a
// header name,unit,better,sample,... and a line a metric with its samples (RFC 4180).

namespace fathom::gate {
namespace {

GpuState state_of(const Fields& telemetry) {
  const auto median_of = [&](std::string_view channel) {
    return telemetry.object(channel).optional_number("median");
  };
  GpuState state{median_of("sm_clock_hz"), median_of("memory_clock_hz"), median_of("power_w"),
                 telemetry.texts("throttle_reasons")};
  std::erase_if(state.throttle_reasons, std::not_fn(holds_clocks_down));
  std::ranges::sort(state.throttle_reasons);
  return state;
}

/// What of the entry's verdict forbids to use its value.
std::string problem_of(VerdictStatus verdict) {
  if (verdict == VerdictStatus::wrong_output) return "its output was wrong";
  if (verdict == VerdictStatus::failed) return "it failed";
  if (verdict == VerdictStatus::above_bound)
    return "it is better than its physical bound, so that one of the two is wrong";
  return {};
}

void add_entry(const Fields& row, RunMetrics& run, std::vector<double>& repeatabilities) {
  const Fields own = row.object(keys::own);
  const Fields metric = own.object("metric"), telemetry = own.object("telemetry"),
               verdict = own.object("verdict");
  MetricValue value{.name = row.text("name"), .unit = metric.text("unit")};
  if (value.name.starts_with(keys::replay_prefix)) {
    value.name.erase(0, keys::replay_prefix.size());
    run.replay = true;
  }
  value.better = metric.word<Better>("better");
  value.problem = problem_of(verdict.word<VerdictStatus>("status"));
  const auto number = metric.optional_number("value");
  if (!number && value.problem.empty()) value.problem = "it has no value";
  value.value = number.value_or(0);
  value.elapsed_s = own.object("timing").number("elapsed_s");
  value.state = state_of(telemetry);
  run.other_processes = std::max(run.other_processes, telemetry.optional_number("other_processes"));
  if (const auto repeatability = own.optional_number("repeatability"))
    repeatabilities.push_back(*repeatability);
  run.metrics.push_back(value);
  own.each("opponents", [&](const Fields& opponent) {
    const auto ratio = opponent.optional_number("ratio");
    if (!ratio && value.problem.empty()) return;
    run.metrics.push_back({value.name + " vs " + opponent.text("name"), "x", Better::higher,
                           ratio.value_or(0), 0, value.state, value.problem});
  });
}

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

Identity identity_of(const Fields& fields) {
  Identity identity;
  for (const auto& [key, value] : fields.members()) {
    const Place place = fields.place().at(key);
    identity.emplace_back(key, value.is_null()     ? ""
                               : value.is_string() ? text_of(value, place)
                                                   : fmt::format("{}", number_of(value, place)));
  }
  return identity;
}

void parse_fathom(const Fields& document, RunMetrics& run) {
  const Fields context = document.object("context");
  const Fields own = context.object(keys::own);
  require_version(own, "schema_version", schema_version, "the schema of results");
  run.fathom = true;
  run.date = date_of(context.text("date"), context.place().at("date"));
  run.commit = own.text("commit");
  run.suite = own.text("suite");
  run.elapsed_s = own.optional_number("elapsed_s").value_or(0);
  run.replay = own.word<Source>("source") == Source::replay;
  run.identity = identity_of(own.object("fingerprint"));
  std::vector<double> repeatabilities;
  each_row(document, "benchmarks",
           [&](const Fields& row) { add_entry(row, run, repeatabilities); });
  if (repeatabilities.size() >= 5) run.unsteadiness = median(repeatabilities);
}

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
