#include "probes/claims.h"

namespace fathom {

Conclude conclusion_of(std::string_view probe) {
#define FATHOM_IF(name) \
  if (probe == #name) return name::conclude;
  FATHOM_EACH_PROBE(FATHOM_IF)
#undef FATHOM_IF
  return {};
}

}  // namespace fathom
