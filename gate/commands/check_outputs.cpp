#include "gate/commands/check_outputs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "gate/outputs.h"
#include "results/standard_streams.h"

namespace fathom {
namespace {

constexpr const char* step_summary = "GITHUB_STEP_SUMMARY";

/// GitHub collects what jobs append to this file; empty without it.
std::string step_summary_file() {
  const char* path = std::getenv(step_summary);
  return path ? path : "";
}

void append_step_summary(const std::string& markdown) {
  if (const std::string path = step_summary_file(); !path.empty()) append_to_file(path, markdown);
}

}  // namespace

std::vector<NamedFile> CheckOutputs::files() const {
  std::vector<NamedFile> all{{"--markdown", markdown}, {"--junit", junit}, {"--json", json}};
  if (github) all.push_back({step_summary, step_summary_file()});
  std::erase_if(all, [](const NamedFile& file) { return file.path.empty(); });
  return all;
}

CheckReport::CheckReport(const CheckOutputs& outputs) : github_(outputs.github) {
  const auto open = [&](const std::string& path, std::string (*text)(const gate::CheckResult&)) {
    if (!path.empty()) files_.push_back({OutputFile(path), text});
  };
  open(outputs.markdown, gate::markdown_summary);
  open(outputs.junit, gate::junit_xml);
  open(outputs.json, gate::decision_json);
  file_on_standard_output_ =
      std::ranges::any_of(files_, [](const File& file) { return file.file.is_standard_output(); });
}

void CheckReport::print(const std::string& text) const {
  if (file_on_standard_output_)
    std::fputs(text.c_str(), stderr);
  else
    print_out(text);
}

void CheckReport::begin(gate::CheckResult check) {
  check.refusals = {"the check has not ended: it still runs, or something ended it"};
  for (File& file : files_)
    if (!file.file.is_stream()) file.file.write(file.text(check));
  if (github_) append_step_summary("");
}

void CheckReport::publish(const gate::CheckResult& result) {
  const int terminal = file_on_standard_output_ ? STDERR_FILENO : STDOUT_FILENO;
  const bool colour = isatty(terminal) == 1 && !std::getenv("NO_COLOR");
  if (!result.ended) print(gate::terminal_table(result, colour));
  for (File& file : files_) file.file.write(file.text(result));
  if (!github_) return;
  print(gate::github_annotations(result));
  append_step_summary(gate::markdown_summary(result) + "\n");
}

}  // namespace fathom
