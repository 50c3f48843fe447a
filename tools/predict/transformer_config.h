#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "models/transformer.h"

namespace fathom {

struct ConfiguredModel {
  models::TransformerShape shape;
  /// Tokens that its attention looks back, if not all of them (`sliding_window`, unless
  /// `use_sliding_window` is false). The models do not know such a window: what they say of a
  /// longer context would be too much.
  std::optional<std::int64_t> window;
};

/// What a model's config.json says (as the Hugging Face Hub keeps it beside the weights): of the
/// families gpt2, llama, mistral, mixtral, qwen2, qwen2_moe, qwen3 and qwen3_moe. Throws
/// Error(bad_input) for a file that cannot be read or is no such config, and for a family that it
/// does not know.
ConfiguredModel model_from_config(const std::filesystem::path& file);

}  // namespace fathom
