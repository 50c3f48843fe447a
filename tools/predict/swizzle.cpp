// `fathom predict swizzle`: the layout of a tile in shared memory.

#include "models/swizzle.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <regex>
#include <vector>

#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/predict/predict.h"

namespace fathom {

FATHOM_FIELDS(models::TileLayout, "", "", padding_elements, bits, base, shift);
FATHOM_FIELDS(models::LayoutCost, "", "", layout, wavefronts, conflicts, conflicts_by_access,
              shared_bytes, wasted_bytes);

namespace {

using namespace models;

struct SwizzleFlags {
  TileUse tile;
  std::vector<std::string> accesses;
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

Prediction predict(const SwizzleFlags& flags) {
  TileUse tile = flags.tile;
  std::vector<std::string> accesses = flags.accesses;
  if (accesses.empty())
    accesses = {fmt::format("store:row:{}", tile.element_bytes),
                fmt::format("load:column:{}", tile.element_bytes)};
  for (const auto& text : accesses) tile.accesses.push_back(parse_access(text));
  const LayoutCost plain = layout_cost(tile, {});
  Prediction said;
  said.say("Tile of {} rows of {} elements of {} bytes; conflicts in all warp accesses of {}\n",
           tile.rows, tile.row_elements, tile.element_bytes, fmt::join(accesses, ", "));
  said.say("plain: {} conflicts, {} wavefronts\n\n", plain.conflicts, plain.wavefronts);
  said.say("{:<23}  {:>9}  {:>10}  {:>6}  {}\n", "layout", "conflicts", "wavefronts", "wasted",
           "index of element (row, column)");
  said.json["plain"] = write_fields(plain);
  for (const LayoutCost& cost : search_layouts(tile)) {
    const std::string index = index_formula(tile, cost.layout);
    said.say("{:<23}  {:>9}  {:>10}  {:>4} B  {}\n", description(cost.layout), cost.conflicts,
             cost.wavefronts, cost.wasted_bytes, index);
    said.json["layouts"].push_back(write_fields(cost));
    said.json["layouts"].back()["index"] = index;
  }
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

Command swizzle_prediction() {
  return prediction<SwizzleFlags>("swizzle",
                                  "The padding or XOR swizzle of a tile with the fewest conflicts",
                                  add_flags, predict);
}

}  // namespace fathom
