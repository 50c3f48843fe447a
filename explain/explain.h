#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explain/trace.h"
#include "reports/page/explained.h"
#include "tools/command_line.h"

// What a recording says: the cost of each access and of each source line, the pages of them all,
// and the command.

namespace fathom::explain {

/// What one warp instruction costs by the models, and the rule that makes it cost more than the
/// least: sectors of global memory, wavefronts of shared memory.
struct PatternCost {
  int cost = 0, least = 0;
  std::optional<Fault> fault;
};

/// Throws std::invalid_argument as the models do. Atomics break no rule: they have no model.
PatternCost cost_of(const Pattern& pattern);

/// What this GPU can move, in bytes a second, as a result of the suite atlas measured it.
struct Bounds {
  std::map<std::string, double> by_level;  ///< "DRAM", "L2", "shared memory"; absent: not measured
  std::string source;                      ///< the result's file
};
Bounds bounds_of(const Document& atlas, const std::string& source);

/// The line of an instruction `offset` bytes into a function; nothing without line information.
using FindLine = std::function<std::optional<SourceLine>(
    const std::vector<char>& code, const std::string& function, std::uint64_t offset)>;

/// Without the program's run, and without sources.
Explanation explain(Trace trace, const FindLine& find_line, const Bounds& bounds = {});

/// Names of templates can be thousands of bytes long; headings and sentences show so many.
inline constexpr std::size_t longest_name = 120;

/// Adds what accesses cost to the counters that count them.
void add_counts(Counts& counts, Space space, Op op, std::uint64_t cost, std::uint64_t least);

/// The answer as "text", "md" or "json". `bounds`: where what this GPU can move was measured. The
/// last takes along the sources that can be read.
std::string page_of(const Explanation& explanation, const std::string& bounds,
                    const std::string& format);

/// What `fathom explain` needs beside the program that it looks into. Absent: an empty path.
struct Tools {
  std::filesystem::path injection;  ///< the library of inject.cpp, its patch beside it
  std::filesystem::path sanitizer;  ///< Compute Sanitizer's library
  FindLine find_line = [](const auto&, const auto&, auto) { return std::nullopt; };
  std::filesystem::path measure{};  ///< the library of measure.cpp
  std::filesystem::path cupti{};    ///< the folder of CUPTI's library
};

struct ExplainArguments {
  std::vector<std::string> program;  ///< and its arguments
  std::string kernel;                ///< a regular expression; empty: all
  std::uint64_t launches = 3;        ///< of each kernel
  std::uint64_t blocks = 64;         ///< of each launch; 0: all
  bool counters = false;             ///< run the program twice more and measure it with CUPTI
  std::filesystem::path bounds;      ///< a result of the suite atlas; empty: this GPU's recording
  std::string format = "text";       ///< as page_of has it
  std::filesystem::path out;         ///< empty: standard error, after what the program wrote
};

/// Runs the program and writes what its kernels' accesses cost. Gives back the program's own exit
/// status, or 128 + the signal that ended it; of a program that ended well but left nothing to
/// explain `incomplete`. Throws Error before the program starts if something is missing.
ExitCode explain_command(const ExplainArguments& arguments, const Tools& tools);

/// What the program fathom-explain has. `program`: the words after `--`.
std::vector<Command> explain_commands(const Tools& tools = {},
                                      const std::vector<std::string>& program = {});

}  // namespace fathom::explain

namespace fathom {
FATHOM_FIELDS(SourceLine, "", "", file, line);
FATHOM_FIELDS(PcSample, "", "", function, pc_offset, by_reason, source);
}  // namespace fathom
