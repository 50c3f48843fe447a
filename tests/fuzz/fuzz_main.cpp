// libFuzzer's entry: the first byte says what the rest is read as.

#include <cstddef>
#include <cstdint>

#include "gate_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!text.empty()) fathom::gate::fuzz(text.substr(1), text[0] == 'r');
  return 0;
}
