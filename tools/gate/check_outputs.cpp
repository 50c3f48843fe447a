#include "tools/gate/check_outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "reports/gate/outputs.h"
#include "results/atomic_file.h"

namespace fathom {
namespace {

/// GitHub collects what jobs append to this file.
void append_step_summary(const std::string& markdown) {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  if (!path || !*path) return;
  std::ofstream file(path, std::ios::app);
  file << markdown;
  if (!file.flush())
    throw Error(ExitCode::output_unwritable,
                fmt::format("{} (GITHUB_STEP_SUMMARY) cannot be written.", path));
}

void write_files(const CheckOutputs& outputs, const gate::CheckResult& result) {
  if (!outputs.markdown.empty())
    write_file_atomically(outputs.markdown, gate::markdown_summary(result));
  if (!outputs.junit.empty()) write_file_atomically(outputs.junit, gate::junit_xml(result));
  if (!outputs.json.empty()) write_file_atomically(outputs.json, gate::decision_json(result));
}

void tell_github(const CheckOutputs& outputs, const gate::CheckResult& result) {
  if (!outputs.github) return;
  fmt::print("{}", gate::github_annotations(result));
  append_step_summary(gate::markdown_summary(result) + "\n");
}

}  // namespace

void begin_outputs(const CheckOutputs& outputs, gate::CheckResult check) {
  check.refusals = {"the check has not ended: it still runs, or something ended it"};
  write_files(outputs, check);
  if (outputs.github) append_step_summary("");
}

void publish(const CheckOutputs& outputs, const gate::CheckResult& result) {
  const bool colour = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  fmt::print("{}", gate::terminal_table(result, colour));
  write_files(outputs, result);
  tell_github(outputs, result);
}

void publish_end(const CheckOutputs& outputs, gate::CheckResult check, const Error& why) {
  check.refusals = {why.what()};
  check.ended = why.code();
  try {
    write_files(outputs, check);
    tell_github(outputs, check);
  } catch (const Error&) {
    // What ended the check is the news.
  }
}

}  // namespace fathom
