#include "studies/gate/trials/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "reports/markdown.h"
#include "results/files.h"
#include "results/statistics.h"
#include "results/text.h"
#include "studies/gate/simulation.h"

namespace fathom::gate {
namespace {

namespace fs = std::filesystem;
using reports::Table;

/// Below this nothing may be flagged.
constexpr double never_flagged = 0.005;
/// The other load has to be there for at least so long to have disturbed anything.
constexpr double least_load_s = 1;

std::string count_text(const Share& share) {
  if (share.trials == 0) return "";
  return fmt::format("{} of {}, {}", share.hits, share.trials, share_text(share));
}

/// Each decision once.
void refuse_doubles(const std::vector<JournalText>& journals) {
  std::set<std::pair<JournalHeader, std::size_t>> seen;
  for (const JournalText& journal : journals)
    for (const TrialRecord& record : journal.records)
      if (!seen.emplace(journal.header, record.index).second)
        fail(ExitCode::bad_input,
             "Decision {} of {} with seed {} is there twice: give each journal once.",
             record.index + 1, to_string(journal.header.kind), journal.header.seed);
}

/// The journals of one tool, which has error rates of its own.
struct OfOneTool {
  std::string tool, newest;  ///< the date of its newest decision
  std::vector<const JournalText*> journals;
};

/// The one with the newest decision first.
std::vector<OfOneTool> by_tool(const std::vector<JournalText>& journals) {
  std::map<std::string, OfOneTool> tools;
  for (const JournalText& journal : journals) {
    OfOneTool& of_tool = tools[journal.header.tool];
    of_tool.tool = journal.header.tool;
    of_tool.journals.push_back(&journal);
    for (const TrialRecord& record : journal.records)
      of_tool.newest = std::max(of_tool.newest, record.date);
  }
  std::vector<OfOneTool> sorted;
  for (auto& [name, of_tool] : tools) sorted.push_back(std::move(of_tool));
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &OfOneTool::newest);
  return sorted;
}

std::string title_of(const std::string& tool) {
  return tool.empty() ? "Decided before commits were noted"
                      : "Decided by " + reports::escape_text(tool);
}

using Records = std::vector<const TrialRecord*>;

Share ended_with(const Records& records, ExitCode code) {
  const auto hits = std::ranges::count(records, to_int(code), &TrialRecord::exit_code);
  return {static_cast<std::size_t>(hits), records.size()};
}

/// The median and the longest.
std::string seconds_text(const Records& records) {
  std::vector<double> seconds;
  for (const TrialRecord* record : records) seconds.push_back(record->seconds);
  if (seconds.empty()) return "";
  return fmt::format("{:.1f}, {:.1f}", median(seconds), std::ranges::max(seconds));
}

/// What became of metrics with one fault.
using Fates = std::vector<const JudgedMetric*>;

std::vector<std::string> fate_row(std::string what, const Fates& fates) {
  Share confirmed{0, fates.size()};
  std::size_t inconclusive = 0;
  std::vector<double> worse;
  for (const JudgedMetric* metric : fates) {
    confirmed.hits += metric->outcome == "regression";
    inconclusive += metric->outcome == "inconclusive" || metric->outcome.empty();
    if (metric->worse) worse.push_back(*metric->worse);
  }
  return {std::move(what), count_text(confirmed), fmt::format("{}", inconclusive),
          worse.empty() ? "" : format_percent(median(worse))};
}

Table fate_table(const char* first) {
  return Table({first, ">Confirmed", ">Inconclusive", ">Measured change (median)"});
}

/// A part of the page: the rates of some journals.
class Summary {
 public:
  Summary(std::vector<const JournalText*> journals, reports::Page& page)
      : journals_(std::move(journals)), page_(page) {}

  /// `title` is Markdown.
  void write(const std::string& title) {
    page_.heading(3, title, "tool");
    page_.paragraph(origin());
    unchanged();
    slowed();
    faults();
    disturbed();
  }

 private:
  void each(TrialKind kind,
            const std::function<void(const JournalHeader&, const TrialRecord&)>& act) const {
    for (const JournalText* journal : journals_)
      if (journal->header.kind == kind)
        for (const TrialRecord& record : journal->records) act(journal->header, record);
  }

  std::string origin() const {
    std::set<std::string> gpus, days;
    std::size_t decisions = 0;
    for (const JournalText* journal : journals_) {
      for (const TrialRecord& record : journal->records) {
        ++decisions;
        if (!record.gpu.empty()) gpus.insert(reports::escape_text(record.gpu));
        days.insert(reports::escape_text(record.date.substr(0, 10)));
      }
    }
    return fmt::format("{} decision{} of `fathom check`, each with rounds of its own{}{}.",
                       decisions, decisions == 1 ? "" : "s",
                       gpus.empty() ? "" : fmt::format(", on {}", fmt::join(gpus, ", ")),
                       days.empty() ? "" : fmt::format(", measured on {}", fmt::join(days, ", ")));
  }

  /// Decisions about two sides that do not differ, by what was run.
  void unchanged() {
    std::map<std::string, Records> rows;
    each(TrialKind::unchanged, [&](const JournalHeader& header, const TrialRecord& record) {
      rows[header.suite.empty() ? "commands" : "suite " + header.suite].push_back(&record);
    });
    Table table(
        {"What", ">Metrics", ">False alarms", ">Inconclusive", ">Seconds (median, longest)"});
    for (const auto& [what, records] : rows)
      table.add_row(
          {reports::escape_text(what),
           fmt::format("{}", (*std::ranges::max_element(
                                  records, {}, [](auto* record) { return record->metrics; }))
                                 ->metrics),
           count_text(ended_with(records, ExitCode::check_failed)),
           count_text(ended_with(records, ExitCode::inconclusive)), seconds_text(records)});
    page_.table("Decisions of which nothing changed", table);
  }

  /// Adds the metrics in which nothing was planted, and writes the table.
  void finish(const std::string& caption, Table table, TrialKind kind) {
    Share flagged;
    Records records;
    each(kind, [&](const JournalHeader&, const TrialRecord& record) {
      flagged.hits += record.flagged.size();
      flagged.trials += record.metrics - std::min(record.metrics, record.planted.size());
      records.push_back(&record);
    });
    table.add_row({"nothing", count_text(flagged), "", ""});
    page_.table(
        caption, table,
        fmt::format("seconds of a decision, median and longest: {}", seconds_text(records)));
  }

  void slowed() {
    std::map<double, Fates> sizes;
    Fates small;
    each(TrialKind::slowed, [&](const JournalHeader&, const TrialRecord& record) {
      for (const JudgedMetric& metric : record.planted) {
        sizes[metric.planted.size].push_back(&metric);
        if (metric.planted.size < never_flagged) small.push_back(&metric);
      }
    });
    if (sizes.empty()) return;
    Table table = fate_table("More work");
    for (const auto& [size, fates] : sizes) table.add_row(fate_row(format_percent(size), fates));
    if (!small.empty())
      table.add_row(fate_row("all below " + format_percent(never_flagged), small));
    finish("Metrics slowed by a hidden factor in their work", std::move(table), TrialKind::slowed);
  }

  void faults() {
    std::map<std::pair<std::string, double>, Fates> by_share;
    std::map<double, Fates> large;
    each(TrialKind::faults, [&](const JournalHeader&, const TrialRecord& record) {
      for (const JudgedMetric& metric : record.planted) {
        by_share[{metric.planted.fault, metric.planted.size}].push_back(&metric);
        for (const double least : {0.03, 0.05})
          if (metric.worse.value_or(0) >= least) large[least].push_back(&metric);
      }
    });
    if (by_share.empty()) return;
    Table table = fate_table("Fault and its share");
    for (const auto& [key, fates] : by_share)
      table.add_row(fate_row(fmt::format("{}, {}", key.first, format_percent(key.second)), fates));
    for (const auto& [least, fates] : large)
      table.add_row(
          fate_row(fmt::format("any measured to cost {} or more", format_percent(least)), fates));
    finish("Real faults in single metrics", std::move(table), TrialKind::faults);
  }

  void disturbed() {
    std::map<std::string, Records> rows;
    std::map<std::string, std::size_t> headlines;
    std::size_t undisturbed = 0;
    static const std::regex number("[0-9]+");
    each(TrialKind::disturbed, [&](const JournalHeader&, const TrialRecord& record) {
      if (!record.load || record.load->seconds < least_load_s) {
        ++undisturbed;
        return;
      }
      rows[std::string(to_string(record.load->plan.pattern))].push_back(&record);
      rows["together"].push_back(&record);
      ++headlines[std::regex_replace(record.headline, number, "N")];
    });
    if (rows.empty()) return;
    Table table({"The other load", ">Inconclusive", ">Regression", ">Passed",
                 ">Seconds (median, longest)"});
    for (const auto& [name, records] : rows)
      table.add_row({name, count_text(ended_with(records, ExitCode::inconclusive)),
                     count_text(ended_with(records, ExitCode::check_failed)),
                     fmt::format("{}", ended_with(records, ExitCode::ok).hits),
                     seconds_text(records)});
    page_.table("Two equal sides with another load beside them", table,
                undisturbed == 0 ? ""
                                 : fmt::format("{} more decisions ended before the load had begun",
                                               undisturbed));
    // A sign that hardly ever decided has no measured rate, however good the rate of all of them.
    Table signs({"How these decisions ended", ">Decisions"});
    for (const auto& [headline, decisions] : headlines)
      signs.add_row({reports::escape_text(headline), fmt::format("{}", decisions)});
    page_.table("By what they were decided", signs);
  }

  std::vector<const JournalText*> journals_;
  reports::Page& page_;
};

}  // namespace

std::string write_trial_summary(const std::vector<JournalText>& journals, const fs::path& folder) {
  refuse_doubles(journals);
  fs::create_directories(folder);
  reports::Page page(false);
  page.heading(2, "Measured error rates of the gate", "trials");
  const std::vector<OfOneTool> tools = by_tool(journals);
  if (tools.size() > 1) {
    std::vector<const JournalText*> all;
    for (const JournalText& journal : journals) all.push_back(&journal);
    Summary(std::move(all), page).write("Decided by all of them together");
  }
  for (const OfOneTool& of_tool : tools)
    Summary(of_tool.journals, page).write(title_of(of_tool.tool));
  write_file_atomically(folder / "trials.md", page.text());
  return page.text();
}

}  // namespace fathom::gate
