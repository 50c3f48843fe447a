#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "probes/model_validation/campaigns.h"

namespace fathom::model_validation {

using models::Access;
using models::all_lanes;
using models::warp_size;
using models::WarpAccess;

namespace {

/// Draws for one space, operation and width. Methods without arguments each draw a kind of pattern.
struct Generator {
  Access op;
  int bytes;
  std::uint64_t width, region;  ///< bytes
  std::mt19937_64 random;

  // Its bias is below 2^-40 for the small numbers here.
  std::uint64_t below(std::uint64_t n) { return random() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  /// A multiple of the width such that `span` bytes from there on lie within the region.
  std::uint64_t base_for(std::uint64_t span) { return below((region - span) / width + 1) * width; }

  WarpAccess by_lane(auto&& draw) {
    WarpAccess access = models::broadcast(op, bytes);
    for (std::uint64_t& address : access.address) address = draw();
    return access;
  }

  WarpAccess contiguous() { return models::strided(op, bytes, width, base_for(warp_size * width)); }

  /// By any multiple of the width. Small strides decide most; large ones walk over lines and pages.
  WarpAccess strided() {
    const std::uint64_t most = (region - width) / ((warp_size - 1) * width);
    const std::uint64_t stride =
        width * (chance(70) ? below(std::min<std::uint64_t>(most, 40) + 1) : below(most + 1));
    return models::strided(op, bytes, stride, base_for((warp_size - 1) * stride + width));
  }

  /// One address, or one for each group of lanes, down to pairs.
  WarpAccess broadcast() {
    std::uint64_t address = base_for(width);
    const int group = warp_size >> below(5);
    return by_lane([&, lane = 0]() mutable {
      if (lane % group == 0 && lane > 0) address = base_for(width);
      ++lane;
      return address;
    });
  }

  /// Lanes that differ in some bits of their number share an address.
  WarpAccess paired() {
    const auto ignored = static_cast<unsigned>(chance(60) ? 1 + below(3) : 1 + below(31));
    WarpAccess access = models::paired(op, bytes, ignored);
    std::array<std::uint64_t, warp_size> place;
    if (chance(50)) {
      const std::uint64_t base = base_for(warp_size * width);
      for (std::uint64_t i = 0; i < warp_size; ++i) place[i] = base + i * width;
    } else {  // the pairs anywhere, still in agreement
      for (std::uint64_t& p : place) p = base_for(width);
    }
    for (std::uint64_t& address : access.address) address = place[address / width];
    return access;
  }

  WarpAccess nearly_paired() {
    WarpAccess access = paired();
    access.address[below(warp_size)] = base_for(width);
    if (chance(50)) access.address[below(warp_size)] = base_for(width);
    return access;
  }

  /// Groups read contiguously, any distance apart.
  WarpAccess grouped() {
    const int lanes = 1 << (1 + below(4));
    const std::uint64_t groups = warp_size / lanes;
    const std::uint64_t most = (region - lanes * width) / ((groups - 1) * width);
    const std::uint64_t distance = width * (chance(50) ? below(65) : below(most + 1));
    return models::grouped(op, bytes, lanes, distance,
                           base_for((groups - 1) * distance + lanes * width));
  }

  /// Contiguous or strided, lanes shuffled within groups of 4 to 32.
  WarpAccess permuted() {
    const WarpAccess access = chance(50) ? strided() : contiguous();
    const std::uint64_t group = std::uint64_t{4} << below(4);
    std::array<int, warp_size> source;
    std::iota(source.begin(), source.end(), 0);
    for (std::uint64_t lane = 0; lane < warp_size; ++lane)
      std::swap(source[lane], source[lane / group * group + below(group)]);
    return models::permuted(access, source);
  }

  /// A column of a tile that is plain, padded or swizzled, whose 32 rows fit the region.
  WarpAccess tile_column() {
    models::Tile tile{.element_bytes = bytes, .row_elements = 4 << below(5)};
    while (tile.row_elements + std::uint64_t{4} > region / (warp_size * width))
      tile.row_elements /= 2;
    const std::uint64_t kind = below(3);  // plain, padded, swizzled
    if (kind == 1) tile.padding_elements = static_cast<int>(1 + below(4));
    tile.xor_swizzle = kind == 2;
    const auto column = static_cast<int>(below(tile.row_elements));
    tile.base = base_for(warp_size * (tile.row_elements + tile.padding_elements) * width);
    return models::tile_column(op, tile, column);
  }

  /// One member of an array of structures; or a transposing read: neighbouring lanes take the
  /// members of one structure, a few of each.
  WarpAccess structures() {
    const std::uint64_t members = 2 + below(15);
    const std::uint64_t stride = members * width;
    const std::uint64_t base = base_for(warp_size * stride);
    const std::uint64_t member = below(members);
    if (!chance(30)) return models::strided(op, bytes, stride, base + member * width);
    const std::uint64_t taken = 1 + below(members);
    return by_lane([&, lane = std::uint64_t{0}]() mutable {
      const std::uint64_t i = lane++;
      return base + i / taken * stride + i % taken * width;
    });
  }

  /// Random words within one to four banks (sectors of one line, in global memory).
  WarpAccess few_banks() {
    const std::uint64_t unit = std::max<std::uint64_t>(width, 4);  // a bank's word at least
    const std::uint64_t slots = 128 / unit;
    const std::uint64_t lines = 1 + below(std::min<std::uint64_t>(64, region / 128));
    const std::uint64_t first = below(slots), count = 1 + below(4);
    return by_lane([&] {
      const std::uint64_t line = below(lines) * 128;
      const std::uint64_t slot = (first + below(count)) % slots * unit;
      return line + slot + below(unit / width) * width;
    });
  }

  WarpAccess few_addresses() {
    std::vector<std::uint64_t> choice(1 + below(12));
    const std::uint64_t span = chance(50) ? 512 : region;
    for (std::uint64_t& address : choice) address = below(span / width) * width;
    return by_lane([&] { return choice[below(choice.size())]; });
  }

  WarpAccess within(std::uint64_t span) {
    const std::uint64_t base = base_for(span);
    return by_lane([&] { return base + below(span / width) * width; });
  }
  WarpAccess clustered() { return within(width << below(10)); }
  WarpAccess scattered() { return within(region); }

  WarpAccess reversed() {
    WarpAccess access = strided();
    std::ranges::reverse(access.address);
    return access;
  }

  std::uint32_t active_lanes() {
    const auto bits = [&] { return static_cast<std::uint32_t>(random()); };
    std::uint32_t mask = 0;
    switch (below(10)) {
      case 3:
        return bits();  // half of the lanes
      case 4:
        return bits() & bits() & bits();
      case 5:
        return bits() | bits() | bits();
      case 6:  // whole quarter-warps
        for (int quarter = 0; quarter < 4; ++quarter)
          if (chance(50)) mask |= 0xFFu << (8 * quarter);
        return mask;
      case 7:
        return all_lanes >> below(warp_size);  // the ragged end of an array
      case 8: {
        const std::uint64_t step = 2u << below(4);  // every 2nd, 4th, 8th or 16th lane
        for (std::uint64_t lane = below(step); lane < warp_size; lane += step) mask |= 1u << lane;
        return mask;
      }
      case 9:
        return 1u << below(warp_size);
      default:
        return all_lanes;
    }
  }
};

constexpr struct {
  const char* name;
  WarpAccess (Generator::*draw)();
} kinds[] = {{"contiguous", &Generator::contiguous},       {"strided", &Generator::strided},
             {"broadcast", &Generator::broadcast},         {"paired", &Generator::paired},
             {"nearly-paired", &Generator::nearly_paired}, {"grouped", &Generator::grouped},
             {"permuted", &Generator::permuted},           {"tile-column", &Generator::tile_column},
             {"structures", &Generator::structures},       {"few-banks", &Generator::few_banks},
             {"few-addresses", &Generator::few_addresses}, {"clustered", &Generator::clustered},
             {"scattered", &Generator::scattered},         {"reversed", &Generator::reversed}};
static_assert(std::size(kinds) == pattern_kinds);

/// Word `word` of the element at the lane's address, as far as the width reaches.
std::uint32_t word_of_element(const WarpAccess& access, int lane, int word) {
  const std::uint64_t address = access.address[lane] + 4 * static_cast<std::uint64_t>(word);
  const std::uint32_t whole = word_value(static_cast<std::uint32_t>(address / 4));
  const int bits = 8 * std::min(access.bytes_per_lane, 4);
  return whole >> 8 * (address % 4) & (0xFFFFFFFFu >> (32 - bits));
}

}  // namespace

const char* name(Space space) { return space == Space::shared ? "shared" : "global"; }
const char* name(Access op) { return op == Access::load ? "load" : "store"; }

std::function<RandomPattern()> random_patterns(Space space, Access op, int bytes,
                                               std::uint64_t seed) {
  std::seed_seq one_of_each{static_cast<std::uint32_t>(seed),
                            static_cast<std::uint32_t>(seed >> 32),
                            static_cast<std::uint32_t>(space), static_cast<std::uint32_t>(op),
                            static_cast<std::uint32_t>(bytes)};
  return [draw = Generator{op, bytes, static_cast<std::uint64_t>(bytes), region_bytes(space),
                           std::mt19937_64(one_of_each)}]() mutable {
    const auto& kind = kinds[draw.below(pattern_kinds)];
    RandomPattern pattern{kind.name, (draw.*kind.draw)()};
    pattern.access.active_mask = draw.active_lanes();
    return pattern;
  };
}

std::string csv_row(const WarpAccess& access) {
  std::string row = fmt::format("{},{}", name(access.op), access.bytes_per_lane);
  for (int lane = 0; lane < warp_size; ++lane) {
    row += ',';
    if (access.active(lane)) row += std::to_string(access.address[lane]);
  }
  return row;
}

std::optional<std::string> check_found(const WarpAccess& access,
                                       std::span<const std::uint32_t> found) {
  const int words = std::max(1, access.bytes_per_lane / 4);
  const bool load = access.op == Access::load;
  for (int lane = 0; lane < models::warp_size; ++lane) {
    for (int word = 0; word < words_per_lane; ++word) {
      const std::uint32_t value = found[static_cast<std::size_t>(lane * words_per_lane + word)];
      const bool touched = access.active(lane) && word < words;
      const std::uint32_t right = touched ? word_of_element(access, lane, word) : untouched;
      if (value == right) continue;
      return fmt::format("lane {} {} {:#x} instead of {:#x} as its word {}: {}", lane,
                         load ? "read" : "left", value, right, word, csv_row(access));
    }
  }
  if (load || access.active_mask == 0) return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(models::distinct_bytes(access));
  std::uint64_t written = 0;
  for (const std::uint32_t count : found.subspan(found_values, lanes)) written += count;
  if (written == bytes) return std::nullopt;
  return fmt::format("{} bytes of memory changed instead of {}: {}", written, bytes,
                     csv_row(access));
}

bool Comparison::add(double found, double expected, const std::function<std::string()>& describe) {
  ++compared;
  found_sum += found;
  expected_sum += expected;
  if (found == expected) return true;
  ++differing;
  if (examples.size() < most_examples)
    examples.push_back(
        fmt::format("{} has {:g} {} instead of {:g}", describe(), found, unit, expected));
  return false;
}

std::optional<std::string> report(const CampaignResult& result, Entry& entry) {
  const std::string& trials = entry.metric.unit;
  entry.extras["trials"] = static_cast<double>(result.trials);
  entry.iterations = result.trials;
  if (result.wrong) return result.wrong;
  bool all_compared = !result.comparisons.empty();
  if (!all_compared) {
    entry.verdict.status = VerdictStatus::failed;
    entry.verdict.reasons = {"nothing was compared with the model"};
  }
  for (const Comparison& c : result.comparisons) {
    Counter sum{c.name, c.source, c.unit, {}, c.reason, {}, 0, result.model};
    Counter mismatches{c.name + "_mismatches", c.source, trials, {}, c.reason, 0, 0, result.model};
    sum.expected_model += ", summed over all " + trials;
    if (!c.examples.empty())
      mismatches.expected_model +=
          fmt::format("; the first that differ: {}", fmt::join(c.examples, "; "));
    if (c.reason.empty()) {
      sum.value = c.found_sum;
      sum.expected = c.expected_sum;
      mismatches.value = static_cast<double>(c.differing);
    }
    entry.counters.push_back(std::move(sum));
    entry.counters.push_back(std::move(mismatches));
    // Not knowing must not look like agreement, even if all that was compared agrees.
    if (c.compared == result.trials && c.compared > 0) continue;
    all_compared = false;
    // Not measured at all, as the counters say: nothing has failed.
    if (!c.reason.empty() && c.compared == 0) continue;
    entry.verdict.status = VerdictStatus::failed;
    entry.verdict.reasons = {fmt::format("only {} of {} {} were compared with the model{}{}",
                                         c.compared, result.trials, trials,
                                         c.reason.empty() ? "" : ": ", c.reason)};
  }
  if (!all_compared) return std::nullopt;
  entry.metric.value = static_cast<double>(result.differing);
  entry.expected = Expectation{0, 0, result.model};
  return std::nullopt;
}

}  // namespace fathom::model_validation
