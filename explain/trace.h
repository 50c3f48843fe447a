#pragma once

#include <cxxabi.h>

#include <compare>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "explain/access.h"
#include "harness/counters/pc_sampling.h"

// The file that the library in the program writes, one a process, and `fathom explain` reads: the
// line `trace_magic`, then records, each a RecordHead and so many bytes. A launch's record is
// written once the launch has ended, so a program that crashes leaves those before.

namespace fathom::explain {

inline constexpr char trace_magic[] = "fathom explain trace 1\n";

enum class RecordKind : std::uint32_t {
  note = 1,     ///< a sentence: why nothing more was recorded
  module = 2,   ///< its number (8 bytes), its machine code
  launch = 3,   ///< LaunchHead, the function's name, patterns
  total = 4,    ///< launches of a function (8 bytes), its name
  gpu = 5,      ///< its name
  counted = 6,  ///< lines of a launch: its function, then "ROLE VALUE"
  sampled =
      7,  ///< lines of an instruction: its function, "OFFSET LINE FILE", then "REASON SAMPLES"
};

struct RecordHead {
  RecordKind kind;
  std::uint32_t reserved;
  std::uint64_t bytes;
};

struct LaunchHead {
  std::uint64_t module;
  std::uint64_t code_bytes;   ///< of the function: an offset beyond is in a function that it calls
  std::uint64_t counted;      ///< accesses in the recorded blocks
  std::uint64_t kept;         ///< of these, the first so many
  std::uint64_t nanoseconds;  ///< that patching, recording and reading took
  std::uint32_t grid[3], block[3];
  std::uint32_t every;  ///< one block in so many was recorded
  std::uint32_t name_bytes, patterns;
  std::uint32_t reserved;
};

/// Warp instructions that are alike: addresses count from the 128-byte boundary at or below the
/// lowest, which leaves sectors, lines and banks as they were.
struct Pattern {
  std::uint64_t pc;     ///< offset in the function's machine code
  std::uint64_t count;  ///< how often it was executed
  std::uint32_t mask;
  std::uint32_t bytes;
  Space space;
  Op op;
  std::uint64_t address[32];  ///< 0 of a lane that is not active
  auto operator<=>(const Pattern&) const = default;
};

struct Launch : LaunchHead {
  std::shared_ptr<const std::vector<char>> code;  ///< its module's; null: not recorded
  std::string function;                           ///< as the machine code names it
  std::vector<Pattern> kept_patterns;
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
  std::uint64_t launches = 0;            ///< counted
  std::map<std::string, double> counts;  ///< by role, all launches together
  std::vector<Waiting> waits;            ///< most samples first, once it is explained
  std::uint64_t samples = 0;             ///< in which a warp waited
};

/// The recordings of all processes; its maps are by a function's name.
struct Trace {
  std::vector<Launch> launches;
  std::map<std::string, std::uint64_t> totals;  ///< launches; none of a process that crashed
  std::vector<std::string> gpus;                ///< names, of each process that was measured
  std::map<std::string, Measured> measured;     ///< without the waits
  using Place = std::tuple<std::string, unsigned, std::uint64_t>;
  std::map<std::string, std::map<Place, Waiting>> waits;
  std::vector<std::string> notes;  ///< each once
  int processes = 0;
  int cut_short = 0;  ///< of those, whose last record is not whole
};

/// A function as the source names it, where its name can be read.
inline std::string source_name(const std::string& function) {
  int status = 0;
  char* const plain = abi::__cxa_demangle(function.c_str(), nullptr, nullptr, &status);
  std::string name = plain == nullptr || !function.starts_with("_Z") ? function : plain;
  std::free(plain);
  return name;
}

/// Adds one process' recording. Throws Error(document_malformed) for what is none, or one that no
/// program can have written.
void read_trace(const std::filesystem::path& file, Trace& trace);

}  // namespace fathom::explain
