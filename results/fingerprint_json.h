#pragma once

#include <nlohmann/json_fwd.hpp>

#include "results/document.h"

namespace fathom {

/// A fingerprint as it stands in a result document, and as `fathom-device --facts` prints it: what is
/// not known is an empty text or null.
nlohmann::ordered_json fingerprint_to_json(const Fingerprint& fingerprint);

/// The way back. Throws nlohmann::json::exception for a text that is missing, or a value of another
/// type; a document has been checked against its schema before.
Fingerprint fingerprint_from_json(const nlohmann::json& json);

}  // namespace fathom
