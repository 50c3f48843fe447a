// libFuzzer's entry: the first byte says what the rest is read as.

#include "gate_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  if (data[0] == 'r')
    fathom::gate::fuzz_rules(data + 1, size - 1);
  else
    fathom::gate::fuzz_document(data, size);
  return 0;
}
