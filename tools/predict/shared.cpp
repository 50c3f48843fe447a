#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "models/shared_memory.h"
#include "results/format.h"
#include "tools/predict/patterns.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

std::uint32_t lanes_of(const SharedWavefront& wavefront) {
  std::uint32_t lanes = 0;
  for (const std::uint32_t served : wavefront.lanes) lanes |= served;
  return lanes;
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

Prediction predict(const PatternFlags& flags) {
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
  add_pattern_flags(app, flags);
  app.footer(
      std::string(
          "The picture shows which lane gets its word from which bank in which wavefront.\n\n") +
      patterns_help +
      "Examples:\n"
      "  fathom predict shared load --stride 8\n"
      "  fathom predict shared load --column 0 --row-elements 32 --padding 1\n"
      "  fathom predict shared store --bytes 16 --lanes 0,16,,64 --json\n"
      "  fathom predict shared --patterns accesses.csv > wavefronts.csv\n");
}

}  // namespace

Command shared_prediction() {
  return prediction<PatternFlags>("shared", "Wavefronts and bank conflicts of a warp's access",
                                  add_flags, predict);
}

}  // namespace fathom
