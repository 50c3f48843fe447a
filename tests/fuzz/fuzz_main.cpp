// libFuzzer's entry: behind an 'r' come the gate's rules; all else is a document.

#include <cstddef>
#include <cstdint>

#include "gate_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool rules = text.starts_with('r');
  fathom::gate::fuzz(text.substr(rules ? 1 : 0), rules);
  return 0;
}
