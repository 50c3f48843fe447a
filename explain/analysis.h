#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/measured.h"
#include "explain/rules.h"
#include "explain/trace.h"
#include "harness/counters/source_line.h"

namespace fathom::explain {

/// The line of an instruction `offset` bytes into a function; nothing without line information.
using FindLine = std::function<std::optional<SourceLine>(
    const std::vector<char>& code, const std::string& function, std::uint64_t offset)>;

/// A rule that a line breaks, and how often.
struct Finding : Fault {
  std::uint64_t accesses = 0;  ///< that break it so
  std::uint64_t saved = 0;     ///< sectors or wavefronts, or accesses of a partial warp
};

/// What one kind of access on one source line costs. Without line information a line is an
/// instruction.
struct LineCost {
  std::optional<SourceLine> source;
  std::uint64_t offset = 0;  ///< of its first instruction in the function's machine code
  Space space = Space::global;
  Op op = Op::load;
  int bytes = 0;                ///< of a lane
  std::uint64_t accesses = 0;   ///< executed by warps
  std::uint64_t lanes = 0;      ///< active in them, all together
  std::uint64_t cost = 0;       ///< sectors of global memory, wavefronts of shared memory
  std::uint64_t least = 0;      ///< that the same lanes could do with
  std::vector<Finding> faults;  ///< most costly first

  std::uint64_t saved() const;
};

struct KernelCost {
  std::string function;  ///< as the machine code names it
  std::string name;      ///< as the source does
  std::uint64_t launches = 0, recorded_launches = 0;
  std::uint64_t blocks = 0, recorded_blocks = 0;  ///< of the recorded launches
  std::uint64_t block_threads = 0;                ///< of the last
  std::uint64_t accesses = 0, kept = 0;           ///< of the recorded blocks; those looked at
  double seconds = 0;                             ///< that recording took
  std::vector<LineCost> lines;                    ///< by what can be saved, then by offset
  Measured measured;                              ///< if it was asked for

  std::uint64_t saved() const;
};

struct Explanation {
  std::vector<KernelCost> kernels;  ///< by what can be saved
  std::vector<std::string> notes;   ///< what is missing and why
};

/// For headings and sentences: names of templates can be thousands of characters long.
std::string short_name(const std::string& name);

Explanation explain(Trace trace, const FindLine& find_line);

}  // namespace fathom::explain
