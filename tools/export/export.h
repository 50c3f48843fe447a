#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

// A result document as text for other programs. docs/export.md says what each format holds. Each
// throws Error(incomplete) where the document has nothing for it.

/// Fathom's own interface: facts with all that is known of each (tools/export/machine.schema.json).
std::string machine_export(const Document& document);
std::string csv_export(const Document& document);
/// OpenMetrics that is also Prometheus' older text format, which node exporter reads.
std::string openmetrics_export(const Document& document);
/// Bencher Metric Format.
std::string bmf_export(const Document& document);
/// Parameters of gpgpusim.config and trace.config.
std::string accelsim_export(const Document& document);
/// A Python module that adds the GPU to PyTorch Inductor's table of devices.
std::string inductor_export(const Document& document);

// What they are made of.

/// A fact or an entry of a result document, as other programs take one.
struct ExportedFigure {
  std::string name;  ///< the fact's id or the entry's name; "REPLAY/..." of a replay
  std::string unit;
  Better better = Better::higher;
  std::optional<double> value{};
  std::optional<Interval> interval{};
  std::size_t samples = 0;
  bool noisy = false;
  std::string method{};  ///< a fact's
  std::string reason{};  ///< why there is no value
};

/// The document's facts; its entries where it states no fact, as suites other than the atlas do.
/// An entry whose output is wrong, or that beats its bound, has no value here.
std::vector<ExportedFigure> exported_figures(const Document& document);

struct KnownFact {
  std::optional<double> value{};
  std::string reason = "not in this result";  ///< why it has no value
  bool noisy = false;
};

/// A fact by its id, or what the driver says of the GPU: "gpu.sms", "gpu.compute_capability",
/// "gpu.sm_clock_max" (Hz) and "gpu.memory_size" (B).
KnownFact known_fact(const Document& document, const std::string& id);

/// "NVIDIA H200, driver 580.159.04, 2026-11-24T12:00:41Z, Fathom 0.2.0 (763460e006f4)"; begins with
/// "REPLAY: " for a replay. One line without control characters.
std::string origin_of(const Document& document);

/// Between double quotes and on one line, as Python and OpenMetrics read a text.
std::string quoted(const std::string& text);

/// Throws Error(incomplete) if the document has none.
void require_facts(const Document& document, const std::string& format);

}  // namespace fathom
