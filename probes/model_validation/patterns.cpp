#include "probes/model_validation/patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

namespace fathom::model_validation {

using models::Access;
using models::all_lanes;
using models::warp_size;
using models::WarpAccess;

namespace {

class Generator {
 public:
  /// One series for each space, operation and width from one seed.
  Generator(Space space, Access op, int bytes, std::uint64_t seed)
      : op_(op),
        bytes_(bytes),
        width_(static_cast<std::uint64_t>(bytes)),
        region_(region_bytes(space)) {
    std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                           static_cast<std::uint32_t>(space), static_cast<std::uint32_t>(op),
                           static_cast<std::uint32_t>(bytes)};
    random_.seed(sequence);
  }

  RandomPattern next() {
    static constexpr struct {
      const char* name;
      WarpAccess (Generator::*draw)();
    } kinds[] = {
        {"contiguous", &Generator::contiguous},       {"strided", &Generator::strided},
        {"broadcast", &Generator::broadcast},         {"paired", &Generator::paired},
        {"nearly-paired", &Generator::nearly_paired}, {"grouped", &Generator::grouped},
        {"permuted", &Generator::permuted},           {"tile-column", &Generator::tile_column},
        {"structures", &Generator::structures},       {"few-banks", &Generator::few_banks},
        {"few-addresses", &Generator::few_addresses}, {"clustered", &Generator::clustered},
        {"scattered", &Generator::scattered},         {"reversed", &Generator::reversed}};
    static_assert(std::size(kinds) == pattern_kinds);
    const auto& kind = kinds[below(pattern_kinds)];
    RandomPattern pattern{kind.name, (this->*kind.draw)()};
    pattern.access.active_mask = active_lanes();
    return pattern;
  }

 private:
  // Its bias is below 2^-40 for the small numbers here.
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  /// A multiple of the width such that `span` bytes from there on lie within the region.
  std::uint64_t base_for(std::uint64_t span) {
    return below((region_ - span) / width_ + 1) * width_;
  }

  /// Addresses as they are drawn, lane after lane.
  WarpAccess by_lane(auto&& draw) {
    WarpAccess access = models::broadcast(op_, bytes_);
    for (std::uint64_t& address : access.address) address = draw();
    return access;
  }

  WarpAccess contiguous() {
    return models::strided(op_, bytes_, width_, base_for(warp_size * width_));
  }

  /// By any multiple of the width.
  WarpAccess strided() {
    // Small strides decide most; large ones walk over lines and pages.
    const std::uint64_t most = (region_ - width_) / ((warp_size - 1) * width_);
    const std::uint64_t stride =
        width_ * (chance(70) ? below(std::min<std::uint64_t>(most, 40) + 1) : below(most + 1));
    return models::strided(op_, bytes_, stride, base_for((warp_size - 1) * stride + width_));
  }

  /// One address, or one for each group of lanes.
  WarpAccess broadcast() {
    WarpAccess access = models::broadcast(op_, bytes_, base_for(width_));
    // One address for each group of lanes, down to pairs.
    const int group = warp_size >> below(5);
    for (int lane = 0; lane < warp_size; ++lane) {
      if (lane % group == 0 && lane > 0) access.address[lane] = base_for(width_);
      if (lane % group != 0) access.address[lane] = access.address[lane - 1];
    }
    return access;
  }

  /// Lanes that differ in some bits of their number share an address.
  WarpAccess paired() {
    const auto ignored = static_cast<unsigned>(chance(60) ? 1 + below(3) : 1 + below(31));
    WarpAccess access = models::paired(op_, bytes_, ignored);
    if (chance(50)) {
      const std::uint64_t base = base_for(warp_size * width_);
      for (std::uint64_t& address : access.address) address += base;
      return access;
    }
    // The pairs anywhere, still in agreement.
    std::array<std::uint64_t, warp_size> place;
    for (std::uint64_t& p : place) p = base_for(width_);
    for (std::uint64_t& address : access.address) address = place[address / width_];
    return access;
  }

  /// The same but for a lane or two.
  WarpAccess nearly_paired() {
    WarpAccess access = paired();
    access.address[below(warp_size)] = base_for(width_);
    if (chance(50)) access.address[below(warp_size)] = base_for(width_);
    return access;
  }

  /// Groups read contiguously, any distance apart.
  WarpAccess grouped() {
    const int lanes = 1 << (1 + below(4));
    const std::uint64_t groups = warp_size / lanes;
    const std::uint64_t most = (region_ - lanes * width_) / ((groups - 1) * width_);
    const std::uint64_t distance = width_ * (chance(50) ? below(65) : below(most + 1));
    return models::grouped(op_, bytes_, lanes, distance,
                           base_for((groups - 1) * distance + lanes * width_));
  }

  /// Contiguous or strided, lanes shuffled within groups of 4 to 32.
  WarpAccess permuted() {
    const WarpAccess access = chance(50) ? strided() : contiguous();
    const std::uint64_t group = std::uint64_t{4} << below(4);
    std::array<int, warp_size> source;
    for (int lane = 0; lane < warp_size; ++lane) source[lane] = lane;
    for (std::uint64_t lane = 0; lane < warp_size; ++lane) {
      const std::uint64_t first = lane / group * group;
      std::swap(source[lane], source[first + below(group)]);
    }
    return models::permuted(access, source);
  }

  /// A column of a tile that is plain, padded or swizzled.
  WarpAccess tile_column() {
    models::Tile tile;
    tile.element_bytes = bytes_;
    // 32 rows must fit the region, the padding included.
    const std::uint64_t most = region_ / (warp_size * width_);
    tile.row_elements = 4 << below(5);
    while (static_cast<std::uint64_t>(tile.row_elements) + 4 > most) tile.row_elements /= 2;
    const std::uint64_t kind = below(3);  // plain, padded, swizzled
    if (kind == 1) tile.padding_elements = static_cast<int>(1 + below(4));
    tile.xor_swizzle = kind == 2;
    const auto column = static_cast<int>(below(tile.row_elements));
    tile.base = base_for(warp_size * (tile.row_elements + tile.padding_elements) * width_);
    return models::tile_column(op_, tile, column);
  }

  /// One member of an array of structures.
  WarpAccess structures() {
    const std::uint64_t members = 2 + below(15);
    const std::uint64_t stride = members * width_;
    const std::uint64_t base = base_for(warp_size * stride);
    WarpAccess access = models::strided(op_, bytes_, stride, base + below(members) * width_);
    // Or a transposing read: neighbouring lanes take the members of one structure, a few of each.
    if (chance(30)) {
      const std::uint64_t taken = 1 + below(members);
      for (std::uint64_t lane = 0; lane < warp_size; ++lane)
        access.address[lane] = base + lane / taken * stride + lane % taken * width_;
    }
    return access;
  }

  /// Random words within one to four banks (sectors of one line, in global memory).
  WarpAccess few_banks() {
    const std::uint64_t unit = std::max<std::uint64_t>(width_, 4);  // a bank's word at least
    const std::uint64_t slots = 128 / unit;
    const std::uint64_t lines = 1 + below(std::min<std::uint64_t>(64, region_ / 128));
    const std::uint64_t first = below(slots), count = 1 + below(4);
    return by_lane([&] {
      const std::uint64_t line = below(lines) * 128;
      const std::uint64_t slot = (first + below(count)) % slots * unit;
      return line + slot + below(unit / width_) * width_;
    });
  }

  /// Random lanes share a few addresses.
  WarpAccess few_addresses() {
    std::vector<std::uint64_t> choice(1 + below(12));
    const std::uint64_t span = chance(50) ? 512 : region_;
    for (std::uint64_t& address : choice) address = below(span / width_) * width_;
    return by_lane([&] { return choice[below(choice.size())]; });
  }

  /// Each lane anywhere in a window of `span` bytes.
  WarpAccess within(std::uint64_t span) {
    const std::uint64_t base = base_for(span);
    return by_lane([&] { return base + below(span / width_) * width_; });
  }
  WarpAccess clustered() { return within(width_ << below(10)); }
  WarpAccess scattered() { return within(region_); }

  WarpAccess reversed() {
    WarpAccess access = strided();
    std::reverse(access.address.begin(), access.address.end());
    return access;
  }

  std::uint32_t active_lanes() {
    const auto bits = [&] { return static_cast<std::uint32_t>(random_()); };
    const std::uint64_t kind = below(10);
    if (kind < 3) return all_lanes;
    if (kind == 3) return bits();  // half of the lanes
    if (kind == 4) return bits() & bits() & bits();
    if (kind == 5) return bits() | bits() | bits();
    std::uint32_t mask = 0;
    if (kind == 6) {  // whole quarter-warps
      for (int quarter = 0; quarter < 4; ++quarter)
        if (chance(50)) mask |= 0xFFu << (8 * quarter);
      return mask;
    }
    if (kind == 7) return all_lanes >> below(warp_size);  // the ragged end of an array
    if (kind == 9) return 1u << below(warp_size);
    const std::uint64_t step = 2u << below(4);  // every 2nd, 4th, 8th or 16th lane
    for (std::uint64_t lane = below(step); lane < warp_size; lane += step) mask |= 1u << lane;
    return mask;
  }

  Access op_;
  int bytes_;
  std::uint64_t width_, region_;  ///< bytes
  std::mt19937_64 random_;
};

}  // namespace

std::uint64_t region_bytes(Space space) {
  return space == Space::shared ? shared_region_bytes : global_region_bytes;
}

const char* name(Space space) { return space == Space::shared ? "shared" : "global"; }
const char* name(Access op) { return op == Access::load ? "load" : "store"; }

std::function<RandomPattern()> random_patterns(Space space, Access op, int bytes,
                                               std::uint64_t seed) {
  return [generator = Generator(space, op, bytes, seed)]() mutable { return generator.next(); };
}

std::string csv_row(const WarpAccess& access) {
  std::string row = fmt::format("{},{}", name(access.op), access.bytes_per_lane);
  for (int lane = 0; lane < warp_size; ++lane) {
    row += ',';
    if (access.active(lane)) row += std::to_string(access.address[lane]);
  }
  return row;
}

}  // namespace fathom::model_validation
