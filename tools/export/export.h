#pragma once

#include <string>

#include "results/document.h"

namespace fathom {

/// A result document as text for other programs, in a format that docs/export.md describes:
/// machine (tools/export/machine.schema.json), csv, openmetrics (also Prometheus' older text
/// format, which node exporter reads), bmf, accelsim or inductor. Throws Error(incomplete) where
/// the document has nothing for it.
std::string exported(const std::string& format, const Document& document);

// The two that are not lists of figures.

/// Parameters of gpgpusim.config and trace.config.
std::string accelsim_export(const Document& document);
/// A Python module that adds the GPU to PyTorch Inductor's table of devices.
std::string inductor_export(const Document& document);

/// Between double quotes and on one line, as Python and OpenMetrics read a text.
std::string quoted(const std::string& text);

}  // namespace fathom
