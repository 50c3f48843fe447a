#pragma once

#include <string_view>

#include "results/findings.h"

// What each probe concludes from its entries. No CUDA: a recorded document is concluded again
// without the programs that measured it.

namespace fathom {

namespace atomics { Findings conclude(std::span<const Entry> entries); }
namespace bank_conflicts { Findings conclude(std::span<const Entry> entries); }
namespace copy_bandwidth { Findings conclude(std::span<const Entry> entries); }
namespace energy { Findings conclude(std::span<const Entry> entries); }
namespace instructions { Findings conclude(std::span<const Entry> entries); }
namespace launch_overhead { Findings conclude(std::span<const Entry> entries); }
namespace links { Findings conclude(std::span<const Entry> entries); }
namespace memory_bandwidth { Findings conclude(std::span<const Entry> entries); }
namespace memory_latency { Findings conclude(std::span<const Entry> entries); }
namespace model_validation { Findings conclude(std::span<const Entry> entries); }
namespace occupancy_probe { Findings conclude(std::span<const Entry> entries); }
namespace tail_effect { Findings conclude(std::span<const Entry> entries); }
namespace topology { Findings conclude(std::span<const Entry> entries); }
namespace warp_reduce { Findings conclude(std::span<const Entry> entries); }

/// By the probe's name; empty for one that is not in this folder.
Conclude conclusion_of(std::string_view probe);

}  // namespace fathom
