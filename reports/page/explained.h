#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explain/access.h"
#include "results/document_fields.h"

// The answer of `fathom explain`, whose JSON the HTML page reads.

namespace fathom::explain {

inline constexpr std::string_view answer_format = "fathom explain 1";

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

/// A source line, or without line information an instruction.
struct CodePlace {
  std::optional<std::string> file;
  std::optional<unsigned> line;
  std::uint64_t offset = 0;  ///< of an instruction of it in the function's machine code, in bytes
};

/// What one kind of access costs in one place.
struct LineCost : CodePlace {
  Space space = Space::global;
  Op operation = Op::load;
  int bytes_per_lane = 0;
  std::uint64_t accesses = 0;      ///< executed by warps
  std::uint64_t active_lanes = 0;  ///< in them, all together
  std::uint64_t cost = 0;          ///< sectors of global memory, wavefronts of shared memory
  std::uint64_t least = 0;         ///< that the same lanes could do with
  /// The same two by their units.
  std::optional<std::uint64_t> sectors, least_sectors, wavefronts, least_wavefronts;
  std::vector<Fault> faults;  ///< most costly first
  std::uint64_t saved = 0;    ///< by the fixes of all
};

/// Where warps waited.
struct Waiting : CodePlace {
  std::uint64_t samples = 0;  ///< in which a warp waited there
  double share = 0;           ///< of all
  std::map<std::string, std::uint64_t> reasons;
};

/// What moved at a level of the memory in a second, and what this GPU can move there.
struct Bandwidth {
  std::string level;  ///< "DRAM", "L2", "shared memory"
  double bytes_per_second = 0;
  std::optional<double> bound;  ///< none: not measured
};

/// What CUPTI measured of a kernel, in further runs of the program.
struct Measured {
  std::uint64_t launches = 0;  ///< counted
  double seconds = 0;          ///< that these took
  std::map<std::string, double> counters,
      recorded;  ///< counted, and by the recording: equal where all was recorded
  std::vector<Bandwidth> bandwidths;
  std::uint64_t samples = 0;   ///< in which a warp waited
  std::vector<Waiting> waits;  ///< most samples first
};

struct KernelCost {
  std::string name;      ///< as the source has it
  std::string function;  ///< as the machine code has it, in clean text
  std::uint64_t launches = 0, recorded_launches = 0;
  std::uint64_t blocks = 0, recorded_blocks = 0;  ///< of the recorded launches
  std::uint64_t threads_per_block = 0;            ///< of the last
  std::uint64_t accesses = 0, kept_accesses = 0;  ///< of the recorded blocks; those looked at
  double recording_s = 0;
  std::vector<LineCost> lines;       ///< by what can be saved, then by offset
  std::optional<Measured> measured;  ///< if it was asked for
  std::uint64_t saved = 0;           ///< by the fixes of all lines
};

/// A source file as it is now, in lines of clean text (results/text.h).
struct SourceText {
  std::string file, text;
};

struct Explanation {
  std::string format{answer_format};
  std::string command;              ///< as it was called
  double seconds = 0;               ///< that it ran
  std::string end;                  ///< "exit status 0"
  std::vector<std::string> notes;   ///< what is missing and why
  std::vector<KernelCost> kernels;  ///< by what can be saved
  std::vector<SourceText> sources;  ///< of the files that lines name, those of at most 1 MiB
};

}  // namespace fathom::explain

namespace fathom {

FATHOM_FIELDS(explain::Fault, "", "", rule, what, fix, accesses, saved);
template <>
inline constexpr auto fields_of<explain::LineCost> = [] {
  auto list = FATHOM_LIST(explain::LineCost, "", "", file, line, offset, space, operation,
                          bytes_per_lane, accesses, active_lanes, sectors, least_sectors,
                          wavefronts, least_wavefronts, faults);
  const auto mark = [](auto& field) {
    const std::string_view name = field.name;
    if (name.ends_with("sectors") || name.ends_with("wavefronts")) field.rule.presence = if_set;
  };
  std::apply([&](auto&... field) { (mark(field), ...); }, list.fields);
  return list;
}();
FATHOM_FIELDS(explain::Waiting, "", "", file, line, offset, samples, share, reasons);
FATHOM_FIELDS(explain::Bandwidth, "", "", level, bytes_per_second, bound);
template <>
inline constexpr auto fields_of<explain::Measured> =
    with_later(FATHOM_LIST(explain::Measured, "", "", launches, seconds, counters, recorded,
                           bandwidths, samples, waits),
               {"samples", "waits"});
template <>
inline constexpr auto fields_of<explain::KernelCost> =
    with_later(FATHOM_LIST(explain::KernelCost, "", "", name, function, launches, recorded_launches,
                           blocks, recorded_blocks, threads_per_block, accesses, kept_accesses,
                           recording_s, lines, measured),
               {"measured"});
FATHOM_FIELDS(explain::SourceText, "", "", file, text);
FATHOM_FIELDS(explain::Explanation, "", "", format, command, seconds, end, notes, kernels, sources);

}  // namespace fathom
