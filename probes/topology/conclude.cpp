#include "probes/topology/conclude.h"
namespace fathom::topology { Findings conclude(std::span<const Entry>) { return {}; } }
