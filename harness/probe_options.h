#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/probe.h"

namespace fathom {

/// Command line of a probe binary.
struct ProbeOptions {
  Suite suite = Suite::standard;
  std::string out;  ///< result document; empty: none is written
  int device = 0;
  bool counters = true;
  bool wait = false;   ///< for the device lock
  bool child = false;  ///< Probe::child
  std::uint64_t seed = 1;
  double time_limit_s = 0;                 ///< of sampling one case; 0: the suite's own
  int progress_fd = -1;                    ///< lines "done total elapsed_s name" go there
  int start_fd = -1;                       ///< a socket: --start-fd
  OptionValues own;                        ///< of the probe's own options, defaults filled in
  bool list_only = false;                  ///< --benchmark_list_tests
  std::vector<char*> benchmark_arguments;  ///< argv for Google Benchmark, program name first
};

/// Throws Error(bad_input) for anything unknown, with the nearest known flag; prints help and
/// returns nothing for --help.
std::optional<ProbeOptions> parse_probe_options(int argc, char** argv, const Probe& probe);

}  // namespace fathom
