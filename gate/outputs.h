#pragma once

#include <string>
#include <string_view>

#include "gate/decision.h"

namespace fathom::gate {

// What a check found, for whoever reads it.

/// For a terminal: the headline, every metric that is not simply unchanged, and what was refused.
std::string terminal_table(const CheckResult& result);

/// The same as GitHub's Markdown, for a step's summary or a comment; unchanged metrics folded away.
std::string markdown_summary(const CheckResult& result);

/// GitHub's workflow commands, one a line: errors for regressions, missing metrics and what ended
/// the check, warnings for what is inconclusive, notices for improvements. GitHub shows ten of a
/// kind.
std::string github_annotations(const CheckResult& result);

/// JUnit's XML as CI servers read it: a test case a metric; regressions and missing metrics failed,
/// inconclusive ones, refusals and what ended the check are errors, ignored ones skipped.
std::string junit_xml(const CheckResult& result);

/// Everything, as JSON.
std::string decision_json(const CheckResult& result);

/// Text of a document for a line of a terminal, which may be that of a CI job's log: no line break,
/// nothing that a terminal obeys, and nothing that a CI server takes for a command: "::error ..."
/// at the start of a line (GitHub), "##[...]" and "##vso[...]" anywhere (GitHub, Azure).
std::string log_text(std::string_view text);

/// A sentence without line breaks on one metric: "copy_bandwidth/...: 4.286 TB/s to 4.153 TB/s
/// (-3.1 %): worse by ...".
std::string one_line(const MetricDecision& metric);

/// "-3.1 %", "+2 %"; empty where it has no meaning.
std::string change_text(const MetricDecision& metric);

}  // namespace fathom::gate
