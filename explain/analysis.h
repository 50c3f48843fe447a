#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explain/trace.h"
#include "results/document.h"

// What a recording says: the cost of each access, of each source line, and the pages of them all.

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

/// For headings and sentences: names of templates can be thousands of characters long.
std::string short_name(const std::string& name);

/// Adds what accesses cost to the counters that count them, by role.
void add_counts(std::map<std::string, double>& counts, Space space, Op op, std::uint64_t cost,
                std::uint64_t least);

/// What this GPU can move, in bytes a second, as a result of the suite atlas measured it.
struct Bounds {
  std::map<std::string, double> by_level;  ///< "DRAM", "L2", "shared memory"; absent: not measured
  std::string source;                      ///< the result's file
};
Bounds bounds_of(const Document& atlas, const std::string& source);

/// What moved at a level of the memory in a second, and what this GPU can move there.
struct Bandwidth {
  std::string level;
  double bytes_per_second = 0;
  std::optional<double> bound;  ///< none: not measured
};

/// Lines of the answer: time and bandwidths against the bounds, counters against the recording, and
/// where warps waited. Empty if nothing was measured.
std::vector<std::string> measured_lines(const KernelCost& kernel, const Bounds& bounds);

/// What the program's run was, as the pages name it.
struct RunFacts {
  std::string command;  ///< as it was called
  double seconds = 0;   ///< that it ran
  std::string end;      ///< "exit status 0"
  Bounds bounds{};      ///< of its GPU
};

enum class Format { text, markdown };

std::string page_of(const Explanation& explanation, const RunFacts& run, Format format);
std::string json_of(const Explanation& explanation, const RunFacts& run);

/// What json_of takes along: the files that lines name and that can be read, those of at most
/// 1 MiB, each as it is now, in lines of clean text (results/text.h).
std::map<std::string, std::string> sources_of(const Explanation& explanation);

}  // namespace fathom::explain
