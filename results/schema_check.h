#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fathom {

/// Throws Error(document_malformed) naming `origin`, the JSON path of the first fault and what
/// was expected there, unless `json` is a result document as results/schema.json describes it; and
/// Error(document_version) naming both versions for a document of another version.
void check_schema(const nlohmann::json& json, const std::string& origin);

}  // namespace fathom
