#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "probes/memory_latency/kernels.h"

// Chains of byte offsets in words, as constant banks hold them.

namespace fathom::memory_latency {

/// `bytes` of words with the chain, whose base is 0, in its place.
inline std::vector<std::uint32_t> index_image(const Chain& chain, std::size_t bytes) {
  std::vector<std::uint32_t> words(bytes / 4, 0x5A5A5A5Au);
  for (std::uint32_t k = 0; k < chain.count; ++k) {
    words[address_at(chain, k) / 4] =
        static_cast<std::uint32_t>(address_at(chain, std::uint64_t{k} + 1));
  }
  return words;
}

inline std::shared_ptr<const ParameterWords> parameter_words(const Chain& chain) {
  const auto words = std::make_shared<ParameterWords>();
  std::ranges::copy(index_image(chain, parameter_bytes), words->values);
  return words;
}

}  // namespace fathom::memory_latency
