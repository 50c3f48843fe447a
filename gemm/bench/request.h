#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gemm/bench/problem.h"
#include "gemm/bench/rung.h"
#include "harness/device_facts.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// What the command line asks of the ladder.
struct Request {
  std::vector<std::string> rungs;  ///< identifiers; empty: all
  std::optional<Class> of;         ///< only this class
  /// One product in place of the sweep's; its class is set for each ladder that is asked for.
  std::optional<Problem> problem;
  std::vector<std::string> notes;  ///< on names and flags of earlier versions

  bool wants(const Rung& rung) const;
};

/// The ladder's own options.
std::vector<ProbeOption> ladder_options();

/// What an id of an earlier version is called now, or who does its products; empty for others.
std::string current_id(const std::string& former_id);

/// The rungs that --rung takes, type by type, as --help shows them.
std::string rungs_for_help();

/// Reads them; Error(bad_input) says what to give for unknown rungs, types and no products.
Request read_request(const OptionValues& values);

/// The ladders' cases on this GPU: every rung that it can run, or those requested, without products
/// that it is too small or too slow for (gemm/bench/shapes.h). Their axis `part` says what they are
/// for: "ladder" (every rung at one size), "contest" (contenders where they are to beat the
/// library), "sizes" and "tiles" (the top rung over sizes, and around multiples of a tile),
/// "layouts" (the last contenders in the other transpositions), "sustained" (the last of each kind
/// of sums under lasting load), "claim" (what a claim speaks of), "request" (the command line's
/// product). Throws Error(bad_input) for rungs or a type that were asked for and do not run here.
std::vector<Case> ladder_cases(const DeviceFacts& device, const Request& request);

/// The ladder's product of `size`³: a lesson's in a layout that its own kernel takes.
Problem ladder_problem(const Rung& rung, std::int64_t size);

}  // namespace fathom::gemm
