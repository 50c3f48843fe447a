#pragma once

#include "harness/probe.h"
#include "results/exit_codes.h"

namespace fathom {

/// The program that every probe binary is: Google Benchmark's flags (`--benchmark_*`) and Fathom's
/// own, the device lock, the sweep, the counters, the result document. Throws Error for everything
/// that leaves no result at all.
ExitCode probe_main(int argc, char** argv, const Probe& probe);

}  // namespace fathom
