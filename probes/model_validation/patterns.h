#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "models/warp_access.h"

namespace fathom::model_validation {

/// Addresses of a pattern stay below this, its last byte included. Shared memory: what a block of
/// any GPU may have without asking. Global: far enough for lanes to lie in pages of 64 KiB.
inline constexpr std::uint64_t shared_region_bytes = 32 * 1024;
inline constexpr std::uint64_t global_region_bytes = 1024 * 1024;

enum class Space { shared, global };

/// Size of the region that a pattern's addresses lie in.
std::uint64_t region_bytes(Space space);

/// "shared" or "global", "load" or "store".
const char* name(Space space);
const char* name(models::Access op);

/// The kinds of pattern, each drawn equally often.
inline constexpr int pattern_kinds = 14;
enum class PatternKind {
  contiguous,     ///< from any base that the width allows
  strided,        ///< by any multiple of the width
  broadcast,      ///< one address, or one for each group of lanes
  paired,         ///< lanes that differ in some bits of their number share an address
  nearly_paired,  ///< the same but for a lane or two
  grouped,        ///< groups read contiguously, any distance apart
  permuted,       ///< contiguous or strided, lanes shuffled within groups of 4 to 32
  tile_column,    ///< of a tile that is plain, padded or swizzled
  structures,     ///< one member of an array of structures
  few_banks,      ///< random words within one to four banks (sectors of one line, in global memory)
  few_addresses,  ///< random lanes share a few addresses
  clustered,      ///< random within a small window
  scattered,      ///< random within the whole region
  reversed,       ///< strided downwards
};
const char* name(PatternKind kind);

struct RandomPattern {
  PatternKind kind = PatternKind::contiguous;
  models::WarpAccess access;
};

/// An endless series of valid patterns for one space, operation and width. The same seed gives the
/// same series on every machine; the standard library's distributions would not.
class PatternGenerator {
 public:
  PatternGenerator(Space space, models::Access op, int bytes_per_lane, std::uint64_t seed);
  RandomPattern next();

 private:
  std::uint64_t below(std::uint64_t n);
  bool chance(unsigned percent) { return below(100) < percent; }
  /// A multiple of the width such that `span` bytes from there on lie within the region.
  std::uint64_t base_for(std::uint64_t span);
  models::WarpAccess addresses(PatternKind kind);
  models::WarpAccess strided();
  models::WarpAccess broadcast();
  models::WarpAccess paired();
  models::WarpAccess grouped();
  models::WarpAccess permuted();
  models::WarpAccess tile_column();
  models::WarpAccess structures();
  models::WarpAccess few_banks();
  models::WarpAccess few_addresses();
  /// Each lane anywhere in a window of `span` bytes.
  models::WarpAccess within(std::uint64_t span);
  std::uint32_t active_lanes();

  Space space_;
  models::Access op_;
  int bytes_;
  std::uint64_t width_;  ///< the same
  std::mt19937_64 random_;
};

/// A row of the table that `fathom predict shared|global --patterns` reads:
/// "load,8,0,8,,24,...", an empty field for an inactive lane.
std::string csv_row(const models::WarpAccess& access);

/// Holds what a trial found (kernels.h: `found_words` words) against what its instruction must do:
/// nothing, or what is wrong.
std::optional<std::string> check_found(const models::WarpAccess& access,
                                       std::span<const std::uint32_t> found);

/// Distinct bytes that the active lanes touch.
std::uint32_t distinct_bytes(const models::WarpAccess& access);

}  // namespace fathom::model_validation
