#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gemm/bench/problem.h"
#include "gemm/bench/rung.h"
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

}  // namespace fathom::gemm
