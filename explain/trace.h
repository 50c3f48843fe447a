#pragma once

#include <cxxabi.h>

#include <compare>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "explain/access.h"
#include "harness/counters/pc_sampling.h"

// The file that the library in the program writes, one a process, and `fathom explain` reads: the
// line `trace_magic`, then records, each a RecordHead and so many bytes. A launch's record is
// written once the launch has ended, so a program that crashes leaves those before.

namespace fathom::explain {

inline constexpr char trace_magic[] = "fathom explain trace 2\n";

enum class RecordKind : std::uint64_t {
  note = 1,  ///< a sentence: why nothing more was recorded
  module,    ///< its number (8 bytes), its machine code
  launch,    ///< LaunchHead, patterns, the function's name
  total,     ///< launches of a function (8 bytes), its name
  gpu,       ///< its name
  counted,   ///< Counts of a launch in JSON, by its function
  sampled    ///< a PcSample in JSON
};

struct RecordHead {
  RecordKind kind;
  std::uint64_t bytes;
};

struct LaunchHead {
  std::uint64_t module;
  std::uint64_t code_bytes;   ///< of the function: an offset beyond is in a function that it calls
  std::uint64_t blocks;       ///< of the grid
  std::uint64_t threads;      ///< of a block
  std::uint64_t every;        ///< one block in so many was recorded
  std::uint64_t counted;      ///< accesses in the recorded blocks
  std::uint64_t kept;         ///< of these, the first so many
  std::uint64_t nanoseconds;  ///< that patching, recording and reading took
  std::uint64_t patterns;
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
  std::vector<Pattern> kept_patterns;
  std::string function;  ///< as the machine code names it
};

using Counts = std::map<std::string, double>;  ///< by role

/// The recordings of all processes; its maps are by a function's name.
struct Trace {
  std::vector<Launch> launches;
  std::map<std::string, std::uint64_t> totals;         ///< launches; none of a process that crashed
  std::vector<std::string> gpus;                       ///< names, of each process that was measured
  std::map<std::string, std::vector<Counts>> counted;  ///< of each launch that CUPTI counted
  std::vector<PcSample> samples;
  std::vector<std::string> notes;  ///< each once
  int processes = 0;
  bool cut_short = false;  ///< the last record of one is not whole
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
