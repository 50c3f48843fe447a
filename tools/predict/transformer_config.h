#pragma once

#include <filesystem>

#include "models/transformer.h"

namespace fathom {

/// The shape that a model's config.json (as the Hugging Face Hub keeps it beside the weights)
/// gives: of the families gpt2, llama, mistral, mixtral, qwen2, qwen2_moe, qwen3 and qwen3_moe.
/// Throws Error(bad_input) for a file that cannot be read or is no such config, and for a family
/// that it does not know.
models::TransformerShape shape_from_config(const std::filesystem::path& file);

}  // namespace fathom
