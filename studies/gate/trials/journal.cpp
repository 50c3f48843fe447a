#include "studies/gate/trials/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "results/fields.h"
#include "results/files.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// A hundred thousand decisions fit.
constexpr std::size_t largest_journal = std::size_t{1} << 30;

}  // namespace

// nlohmann-json finds these by their names.

static void to_json(OrderedJson& json, const JudgedMetric& metric) {
  json = {{"metric", metric.planted.metric},
          {"fault", metric.planted.fault},
          {"size", metric.planted.size},
          {"outcome", metric.outcome},
          {"worse", write_fields(metric.worse)}};
}

static void from_json(const OrderedJson& json, JudgedMetric& metric) {
  metric = {{json.at("metric"), json.at("fault"), json.at("size")}, json.at("outcome"), {}};
  if (!json.at("worse").is_null()) metric.worse = json.at("worse").get<double>();
}

namespace {

std::string line_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string header_line(const JournalHeader& header) {
  return line_of({{"gate_trials", 1},
                  {"kind", to_string(header.kind)},
                  {"seed", header.seed},
                  {"suite", header.suite},
                  {"how", header.how},
                  {"tool", header.tool}});
}

JournalHeader header_of(const OrderedJson& json) {
  if (json.at("gate_trials") != 1) throw Error(ExitCode::bad_input, "of another version");
  return {trial_kind(json.at("kind")), json.at("seed"), json.at("suite"), json.at("how"),
          json.value("tool", "")};
}

std::string record_line(const TrialRecord& record) {
  OrderedJson load = nullptr;
  if (record.load)
    load = {{"pattern", to_string(record.load->plan.pattern)},
            {"work", record.load->plan.work},
            {"seconds", record.load->seconds},
            {"base_rounds", record.load->base_rounds},
            {"head_rounds", record.load->head_rounds}};
  return line_of({{"index", record.index},
                  {"seed", record.seed},
                  {"date", record.date},
                  {"gpu", record.gpu},
                  {"exit_code", record.exit_code},
                  {"headline", record.headline},
                  {"seconds", record.seconds},
                  {"metrics", record.metrics},
                  {"rounds", record.rounds},
                  {"confirmation_rounds", record.confirmation_rounds},
                  {"planted", record.planted},
                  {"flagged", record.flagged},
                  {"load", std::move(load)},
                  {"undecided", record.undecided}});
}

TrialRecord record_of(const OrderedJson& json) {
  TrialRecord record{json.at("index"),     json.at("seed"),
                     json.at("date"),      json.at("gpu"),
                     json.at("exit_code"), json.at("headline"),
                     json.at("seconds"),   json.at("metrics"),
                     json.at("rounds"),    json.at("confirmation_rounds"),
                     json.at("planted"),   json.at("flagged"),
                     std::nullopt,         json.value("undecided", std::vector<std::string>{})};
  if (const OrderedJson& load = json.at("load"); !load.is_null())
    record.load = LoadRecord{{load_pattern(load.at("pattern")), load.at("work")},
                             load.at("seconds"),
                             load.at("base_rounds"),
                             load.at("head_rounds")};
  return record;
}

}  // namespace

JournalText read_journal(const std::filesystem::path& path) {
  const std::string text = read_file_up_to(path, largest_journal);
  JournalText journal;
  std::size_t number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = text.find('\n', start);
    if (end == std::string::npos) break;  // cut off
    const auto line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    try {
      const OrderedJson json = OrderedJson::parse(line);
      if (number++ == 0)
        journal.header = header_of(json);
      else
        journal.records.push_back(record_of(json));
    } catch (const std::exception& error) {
      fail(ExitCode::bad_input, "{}: line {} is none of a journal of trials ({}).", path.string(),
           std::max<std::size_t>(number, 1), error.what());
    }
  }
  if (number == 0) fail(ExitCode::bad_input, "{}: is no journal of trials.", path.string());
  return journal;
}

Journal::Journal(std::filesystem::path path, const JournalHeader& header, bool resume)
    : path_(std::move(path)) {
  std::string records;
  std::error_code ignored;
  if (std::filesystem::file_size(path_, ignored) > 0 && !ignored) {
    if (!resume)
      fail(ExitCode::bad_input,
           "{} is there already: go on with --resume, or name another journal.", path_.string());
    JournalText before = read_journal(path_);
    const auto& [kind, seed, suite, how, tool] = before.header;
    if (before.header != header)
      fail(ExitCode::bad_input,
           "{} was made with other options ({}, seed {}, {}) or by another tool ({}): give the "
           "same, or another journal.",
           path_.string(), to_string(kind), seed, how,
           tool.empty() ? "of before commits were noted" : tool);
    records_ = std::move(before.records);
    for (const TrialRecord& record : records_) records += record_line(record);
  }
  write_file_atomically(path_, header_line(header) + records);
  file_ = FileDescriptor(open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (file_.get() < 0) fail_write(path_, errno);
}

bool Journal::has(std::size_t index) const {
  return std::ranges::any_of(records_,
                             [&](const TrialRecord& record) { return record.index == index; });
}

void Journal::add(const TrialRecord& record) {
  write_all(file_.get(), record_line(record), path_);
  // A pipe has nothing to be synchronised.
  if (fsync(file_.get()) != 0 && errno != EINVAL) fail_write(path_, errno);
  records_.push_back(record);
}

}  // namespace fathom::gate
