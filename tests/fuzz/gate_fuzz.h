#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::gate {

/// Reads bytes as a result, decides on it, and writes every output; aborts where anything but an
/// Error with a printable sentence comes of it.
void fuzz_document(const std::uint8_t* data, std::size_t size);

/// The same for a file of rules.
void fuzz_rules(const std::uint8_t* data, std::size_t size);

}  // namespace fathom::gate
