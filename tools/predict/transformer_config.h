#pragma once

#include <cstdint>
#include <filesystem>

#include "models/transformer.h"

namespace fathom {

/// The shape that a model's config.json states (as the Hugging Face Hub keeps it beside the
/// weights): of the families gpt2, llama, mistral, mixtral, qwen2, qwen2_moe, qwen3 and qwen3_moe.
/// Throws Error(bad_input) for a file that cannot be read or is no such config, for a family that
/// it does not know, and where attention looks back fewer than `context` tokens (`sliding_window`,
/// unless `use_sliding_window` is false): what the models say of such a context would be too much.
models::TransformerShape shape_from_config(const std::filesystem::path& file, std::int64_t context);

}  // namespace fathom
