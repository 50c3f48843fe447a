// `fathom predict shared`: a warp's access to shared memory. `fathom predict swizzle`: the layout
// of a tile there.

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <regex>

#include "models/shared_memory.h"
#include "models/swizzle.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/predict/predict.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

std::uint32_t lanes_of(const SharedWavefront& wavefront) {
  return std::reduce(wavefront.lanes.begin(), wavefront.lanes.end(), 0u, std::bit_or());
}

/// Why the access costs what it does.
std::string sentence(const WarpAccess& access, const SharedExplanation& why) {
  const SharedCost& cost = why.cost;
  if (access.active_mask == 0) return "No lane is active: there is nothing to do.";
  std::string text;
  if (cost.groups == 1 && why.group_lanes == warp_size)
    text = "The warp is served as one group";
  else
    text = fmt::format("{} a lane {} served in groups of {} lanes{}",
                       counted(access.bytes_per_lane, "byte"),
                       access.bytes_per_lane == 1 ? "is" : "are", why.group_lanes,
                       why.merged ? ", doubled because pairs of lanes agree on their address" : "");
  if (cost.conflicts == 0) return text + ", and no bank has two words to deliver to a group.";
  std::map<std::pair<int, int>, int> words;  // by a group's first lane and a bank
  for (const auto& wavefront : why.wavefronts)
    for (int bank = 0; bank < shared_banks; ++bank)
      words[{wavefront.first_lane, bank}] += wavefront.lanes[bank] != 0;
  const auto& [where, worst] =
      *std::ranges::max_element(words, {}, [](const auto& word) { return word.second; });
  return fmt::format("{}; bank {} has {} different words to deliver to a group, one a wavefront.",
                     text, where.second, worst);
}

std::string picture(const SharedExplanation& why) {
  std::string text = "        bank";
  for (int bank = 0; bank < shared_banks; ++bank) text += fmt::format("{:>3}", bank);
  text += "  lanes served\n";
  bool shared = false;
  int number = 0;
  for (const auto& wavefront : why.wavefronts) {
    text += fmt::format("wavefront{:>3}", number++);
    for (const std::uint32_t lanes : wavefront.lanes) {
      const bool several = std::popcount(lanes) > 1;
      const auto lane = fmt::format("{}{}", several ? "+" : "", std::countr_zero(lanes));
      text += fmt::format("{:>3}", lanes == 0 ? "." : lane);
      shared |= several;
    }
    text += fmt::format("  {}\n", lane_list(lanes_of(wavefront)));
  }
  if (shared) text += "(+n: lane n and others get the same word)\n";
  return text;
}

Json schedule_of(const SharedExplanation& why) {
  Json wavefronts = Json::array();
  for (const auto& wavefront : why.wavefronts) {
    Json banks = Json::array();
    for (int bank = 0; bank < shared_banks; ++bank)
      if (wavefront.lanes[bank] != 0)
        banks.push_back({{"bank", bank},
                         {"word", wavefront.word[bank]},
                         {"lanes", lanes_to_json(wavefront.lanes[bank])}});
    wavefronts.push_back({{"group_first_lane", wavefront.first_lane},
                          {"lanes", lanes_to_json(lanes_of(wavefront))},
                          {"banks", std::move(banks)}});
  }
  return wavefronts;
}

Prediction predict(PatternFlags flags) {
  if (flags.file)
    return {answer_patterns(*flags.file, "wavefronts,conflicts", [](const WarpAccess& access) {
      const SharedCost cost = shared_cost(access);
      return std::array{cost.wavefronts, cost.conflicts};
    })};
  const WarpAccess access = access_of(flags);
  const SharedExplanation why = explain_shared(access);
  const SharedCost& cost = why.cost;
  Prediction said = prediction_of(access);
  if (!why.wavefronts.empty()) said.say("{}\n", picture(why));
  said.say("wavefronts {}  conflicts {}  groups {}  clocks {}  (distinct words alone: {})\n{}\n",
           cost.wavefronts, cost.conflicts, cost.groups, cost.clocks, cost.minimum,
           sentence(access, why));
  said.json.update({{"wavefronts", cost.wavefronts},
                    {"conflicts", cost.conflicts},
                    {"groups", cost.groups},
                    {"group_lanes", why.group_lanes},
                    {"merged", why.merged},
                    {"clocks", cost.clocks},
                    {"minimum_wavefronts", cost.minimum},
                    {"sentence", sentence(access, why)},
                    {"schedule", schedule_of(why)}});
  return said;
}

void add_flags(CLI::App& app, PatternFlags& flags) {
  add_pattern_flags(app, flags, "which lane gets its word from which bank in which wavefront",
                    "  fathom predict shared load --stride 8\n"
                    "  fathom predict shared load --column 0 --row-elements 32 --padding 1\n"
                    "  fathom predict shared store --bytes 16 --lanes 0,16,,64 --json\n"
                    "  fathom predict shared --patterns accesses.csv > wavefronts.csv\n");
}

// --- the layout of a tile ------------------------------------------------------------------------

struct SwizzleFlags {
  TileUse tile;
  std::vector<std::string> accesses;
  std::size_t top = 5;
};

/// "load:column:16", "store:8x4:4": of a block rows and columns of lanes, 32 in all.
TileAccess parse_access(const std::string& text) {
  static const std::regex form("(load|store):(row|column|(\\d{1,2})x(\\d{1,2})):(\\d{1,3})");
  std::smatch part;
  const bool fits = std::regex_match(text, part, form);
  const bool block = fits && part[3].matched;
  if (!fits || (block && std::stoi(part[3]) * std::stoi(part[4]) != warp_size))
    fail(ExitCode::bad_input,
         "--access: `{}` is not OP:ORDER:BYTES such as load:column:4 or store:8x4:16.", text);
  TileAccess access{.op = part[1] == "store" ? Access::store : Access::load,
                    .order = block              ? TileAccess::Order::block
                             : part[2] == "row" ? TileAccess::Order::row
                                                : TileAccess::Order::column,
                    .bytes_per_lane = std::stoi(part[5])};
  if (block) access.block_rows = std::stoi(part[3]);
  return access;
}

std::string description(const TileLayout& layout) {
  if (layout.bits != 0)
    return fmt::format("XOR swizzle <{}, {}, {}>", layout.bits, layout.base, layout.shift);
  if (layout.padding_elements != 0)
    return counted(static_cast<std::size_t>(layout.padding_elements), "element") + " of padding";
  return "plain";
}

Json to_json(const TileUse& tile, const LayoutCost& cost) {
  const TileLayout& layout = cost.layout;
  return {{"layout", description(layout)},
          {"padding_elements", layout.padding_elements},
          {"swizzle",
           layout.bits == 0
               ? Json(nullptr)
               : Json{{"bits", layout.bits}, {"base", layout.base}, {"shift", layout.shift}}},
          {"wavefronts", cost.wavefronts},
          {"conflicts", cost.conflicts},
          {"conflicts_by_access", cost.conflicts_by_access},
          {"shared_bytes", cost.shared_bytes},
          {"wasted_bytes", cost.wasted_bytes},
          {"index", index_formula(tile, layout)}};
}

Prediction predict(SwizzleFlags flags) {
  auto& [tile, accesses, top] = flags;
  if (accesses.empty())
    accesses = {fmt::format("store:row:{}", tile.element_bytes),
                fmt::format("load:column:{}", tile.element_bytes)};
  for (const auto& text : accesses) tile.accesses.push_back(parse_access(text));
  const std::vector<LayoutCost> found = search_layouts(tile, top);
  const LayoutCost plain = layout_cost(tile, {}), &best = found.front();
  Json layouts = Json::array();
  std::size_t width = 0;
  for (const auto& cost : found) {
    layouts.push_back(to_json(tile, cost));
    width = std::max(width, description(cost.layout).size());
  }
  Prediction said;
  said.json = {{"rows", tile.rows},
               {"row_elements", tile.row_elements},
               {"element_bytes", tile.element_bytes},
               {"accesses", accesses},
               {"plain", to_json(tile, plain)},
               {"layouts", std::move(layouts)}};
  said.say("Tile of {} rows of {} elements of {} bytes; conflicts in all warp accesses of {}\n",
           tile.rows, tile.row_elements, tile.element_bytes, fmt::join(accesses, ", "));
  said.say("plain: {} conflicts, {} wavefronts\n\n", plain.conflicts, plain.wavefronts);
  said.say("{:<{}}  {:>9}  {:>10}  {:>6}  {}\n", "layout", width, "conflicts", "wavefronts",
           "wasted", "index of element (row, column)");
  for (const auto& cost : found)
    said.say("{:<{}}  {:>9}  {:>10}  {:>4} B  {}\n", description(cost.layout), width,
             cost.conflicts, cost.wavefronts, cost.wasted_bytes, index_formula(tile, cost.layout));
  if (best.conflicts == 0)
    said.say("\nNo conflicts with `tile[{}]`, by the model of every warp access.\n",
             index_formula(tile, best.layout));
  else
    said.say(
        "\nNone of the layouts tried, paddings and XOR swizzles, is without conflicts; {} has the "
        "fewest.\n",
        description(best.layout));
  return said;
}

void add_flags(CLI::App& app, SwizzleFlags& flags) {
  number_flag(app, "--rows", flags.tile.rows, "Rows of the tile", 1, 1 << 18);
  number_flag(app, "--row-elements", flags.tile.row_elements, "Elements of a row", 1, 1 << 18);
  word_flag(app, "--element-bytes", flags.tile.element_bytes, "1, 2, 4, 8 or 16",
            {"1", "2", "4", "8", "16"}, "N");
  app.add_option("--access", flags.accesses,
                 "What warps do, OP:ORDER:BYTES a lane, several times; ORDER is row, column or "
                 "lanes as 8x4 (default: store:row and load:column of an element)")
      ->type_name("ACCESS");
  number_flag(app, "--top", flags.top, "Layouts to show", 1, 1000);
  app.footer(
      "An XOR swizzle <bits, base, shift> XORs into an element's number, from bit `base` on, as\n"
      "many of its bits as lie `shift` higher. Layouts rank by conflicts, then by bytes wasted.\n\n"
      "Examples:\n"
      "  fathom predict swizzle\n"
      "  fathom predict swizzle --rows 64 --row-elements 64 --element-bytes 2 \\\n"
      "      --access store:row:16 --access load:column:16\n"
      "  fathom predict swizzle --element-bytes 2 --access load:8x4:4 --json\n");
}

}  // namespace

Command shared_prediction() {
  return prediction<PatternFlags>("shared", "Wavefronts and bank conflicts of a warp's access",
                                  add_flags, predict);
}

Command swizzle_prediction() {
  return prediction<SwizzleFlags>("swizzle",
                                  "The padding or XOR swizzle of a tile with the fewest conflicts",
                                  add_flags, predict);
}

}  // namespace fathom
