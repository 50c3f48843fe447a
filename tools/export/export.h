#pragma once

#include <string>

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

/// Between double quotes and on one line, as Python and OpenMetrics read a text.
std::string quoted(const std::string& text);

/// Throws Error(incomplete) if the document has none.
void require_facts(const Document& document, const std::string& format);

}  // namespace fathom
