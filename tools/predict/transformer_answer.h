#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "models/transformer.h"
#include "tools/predict/machine.h"

namespace fathom {

/// Names of the formats, and what the load's bytes are.
struct TransformerFormats {
  std::string weights = "bf16", kv = "bf16";
};

/// What a GPU's figures make of the load.
struct TransformerOnGpu {
  MachineFigure bandwidth, peak, memory;
  std::string precision;  ///< of the arithmetic
  std::optional<MachineFigure> link;
  models::TransformerBounds bounds;  ///< on the load's number of GPUs
  bool fits = false;
  std::optional<std::int64_t> needed;  ///< GPUs; empty: no number of them is enough
};

/// A row of the table of GPUs: the bounds are on as many as it needs.
struct TransformerRow {
  std::string gpu;
  std::optional<TransformerOnGpu> on{};  ///< empty: no number of them is enough
};

struct TransformerAnswer {
  models::Transformer model;
  models::TransformerLoad load;
  TransformerFormats formats;
  double usable = 0.9;
  models::TransformerMemory memory{};
  std::optional<Machine> machine{};
  std::optional<TransformerOnGpu> on{};  ///< that machine
  std::vector<TransformerRow> table{};
  std::vector<std::string> without_units{};  ///< GPUs that lack the --compute asked for
};

nlohmann::ordered_json to_json(const TransformerAnswer& answer);
void print_text(const TransformerAnswer& answer);

}  // namespace fathom
