#include "harness/places.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace fathom {

int places_in_a_round(std::size_t bytes, std::size_t l2_bytes) {
  constexpr std::size_t most = 32;
  if (bytes == 0) return 1;
  return static_cast<int>(std::clamp(l2_bytes / 4 / bytes, std::size_t{1}, most));
}

Workload taking_turns(std::vector<Workload> places) {
  if (places.empty()) throw std::invalid_argument("work in no place");
  Workload all = places.back();
  if (places.size() == 1) return all;
  all.launch = [places = std::make_shared<const std::vector<Workload>>(std::move(places)),
                next = std::make_shared<std::size_t>(0)] {
    (*places)[*next].launch();
    *next = (*next + 1) % places->size();
  };
  return all;
}

}  // namespace fathom
