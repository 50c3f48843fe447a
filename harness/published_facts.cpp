#include "harness/published_facts.h"

#include "models/published.h"

namespace fathom {

void add_published_figures(std::span<Fact> facts, int major, int minor, std::string_view gpu_name) {
  for (Fact& fact : facts) {
    if (fact.published) continue;
    const auto figures = models::find_published(fact.id, fact.unit, major, minor, gpu_name);
    if (figures.empty()) continue;
    fact.published = Published{figures.front()->value, models::cited(*figures.front(), gpu_name)};
  }
}

}  // namespace fathom
