#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "fleet/gpu_summary.h"
#include "results/document.h"
#include "tools/child_process.h"

namespace fathom {

/// What one of a GPU's runs left, and what its end says of it.
struct PartResult {
  std::optional<Document> document;
  fleet::GpuStatus status = fleet::GpuStatus::complete;
  std::string reason;  ///< empty: all figures are there
  int exit_code = 0;   ///< 0 where the figures are complete
};

/// Never throws for what is missing or cannot be read. `limit_s`: what it was given.
PartResult result_of(const SupervisedEnd& end, const std::filesystem::path& document,
                     const std::filesystem::path& log, double limit_s);

}  // namespace fathom
