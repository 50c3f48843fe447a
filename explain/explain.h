#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explain/trace.h"
#include "results/document_fields.h"
#include "tools/command_line.h"

// What a recording says: the cost of each access and of each source line, the pages of them all,
// and the command.

namespace fathom::explain {

enum class Rule { stride, misalignment, scatter, bank_conflict, partial_warp };
FATHOM_WORDS(Rule, "stride", "misalignment", "scatter", "bank conflict", "partial warp")
FATHOM_WORDS(Space, "global", "shared")
FATHOM_WORDS(Op, "load", "store", "atomic", "cp.async read", "cp.async write", "ldmatrix",
             "stmatrix")

/// What is wrong with accesses, and what to do about it.
struct Fault {
  Rule rule = Rule::stride;
  std::string what;            ///< "lanes 16 bytes apart"
  std::string fix;             ///< one sentence without a full stop
  std::uint64_t saved = 0;     ///< sectors or wavefronts, or accesses of a partial warp
  std::uint64_t accesses = 1;  ///< that break the rule so
};

/// What one warp instruction costs by the models, and the rule that makes it cost more than the
/// least: sectors of global memory, wavefronts of shared memory.
struct PatternCost {
  int cost = 0, least = 0;
  std::optional<Fault> fault;
};

/// Throws std::invalid_argument as the models do. Atomics break no rule: they have no model.
PatternCost cost_of(const Pattern& pattern);

/// What one kind of access on one source line costs. Without line information a line is an
/// instruction.
struct LineCost {
  std::optional<SourceLine> source;
  std::uint64_t offset = 0;  ///< of its first instruction in the function's machine code
  Space space = Space::global;
  Op operation = Op::load;
  int bytes_per_lane = 0;
  std::uint64_t accesses = 0;      ///< executed by warps
  std::uint64_t active_lanes = 0;  ///< in them, all together
  std::uint64_t cost = 0;          ///< sectors of global memory, wavefronts of shared memory
  std::uint64_t least = 0;         ///< that the same lanes could do with
  std::uint64_t saved = 0;         ///< by the fixes of all faults
  std::vector<Fault> faults;       ///< most costly first
};

/// Where warps waited: a source line, or an instruction without one.
struct Waiting {
  std::optional<SourceLine> source;
  std::uint64_t offset = 0;   ///< of the instruction, in bytes
  std::uint64_t samples = 0;  ///< in which a warp waited there
  std::map<std::string, std::uint64_t> by_reason;
};

/// What CUPTI measured of a kernel, in further runs of the program.
struct Measured {
  std::uint64_t launches = 0;  ///< counted
  Counts counts;               ///< all launches together
  std::vector<Waiting> waits;  ///< most samples first
  std::uint64_t samples = 0;   ///< in which a warp waited
};

struct KernelCost {
  std::string function;  ///< as the machine code names it, in clean text
  std::string name;      ///< as the source does
  std::uint64_t launches = 0, recorded_launches = 0;
  std::uint64_t blocks = 0, recorded_blocks = 0;  ///< of the recorded launches
  std::uint64_t threads_per_block = 0;            ///< of the last
  std::uint64_t accesses = 0, kept_accesses = 0;  ///< of the recorded blocks; those looked at
  double recording_s = 0;
  std::vector<LineCost> lines;  ///< by what can be saved, then by offset
  std::uint64_t saved = 0;      ///< by the fixes of all lines
  Counts recorded;              ///< what the counters must say if all blocks were recorded
  Measured measured;            ///< if it was asked for
};

struct Explanation {
  std::vector<KernelCost> kernels;  ///< by what can be saved
  std::vector<std::string> notes;   ///< what is missing and why
};

/// The line of an instruction `offset` bytes into a function; nothing without line information.
using FindLine = std::function<std::optional<SourceLine>(
    const std::vector<char>& code, const std::string& function, std::uint64_t offset)>;

Explanation explain(Trace trace, const FindLine& find_line);

/// Names of templates can be thousands of characters long: a heading or a sentence has so many.
inline constexpr std::size_t longest_name = 120;

/// Adds what accesses cost to the counters that count them.
void add_counts(Counts& counts, Space space, Op op, std::uint64_t cost, std::uint64_t least);

/// What this GPU can move, in bytes a second, as a result of the suite atlas measured it.
struct Bounds {
  std::map<std::string, double> by_level;  ///< "DRAM", "L2", "shared memory"; absent: not measured
  std::string source;                      ///< the result's file
};
Bounds bounds_of(const Document& atlas, const std::string& source);

/// What the program's run was, as the pages name it.
struct RunFacts {
  std::string command;  ///< as it was called
  double seconds = 0;   ///< that it ran
  std::string end;      ///< "exit status 0"
  Bounds bounds{};      ///< of its GPU
};

/// The answer as "text", "md" or "json". The last takes along the files that lines name and that
/// can be read, those of at most 1 MiB, each as it is now, in lines of clean text (results/text.h).
std::string page_of(const Explanation& explanation, const RunFacts& run, const std::string& format);

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
