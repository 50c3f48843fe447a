#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <climits>

#include "models/occupancy.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/predict/predict_command.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;
using namespace models;

struct OccupancyArguments {
  std::vector<std::string> architectures;
  KernelResources kernel;
};

std::string name_of(const SmLimits& sm) { return fmt::format("sm_{}{}", sm.major, sm.minor); }

/// "sm_90", "sm_90a", "90" and "9.0" alike.
const SmLimits& architecture(const std::string& text) {
  std::vector<std::string> known;
  for (const SmLimits& sm : all_sm_limits()) {
    const std::string name = known.emplace_back(name_of(sm)), digits = name.substr(3);
    for (const auto& spelling : {name, name + "a", name + "f", digits, digits + "a",
                                 fmt::format("{}.{}", sm.major, sm.minor)})
      if (text == spelling) return sm;
  }
  fail(ExitCode::bad_input, "There is no architecture `{}`, only {}.{}", text,
       fmt::join(known, ", "), did_you_mean(text, known));
}

/// Says it of one architecture as text; as JSON it is a member of the answer.
Json say_occupancy(Prediction& said, const SmLimits& sm, const KernelResources& kernel) {
  const Occupancy o = occupancy(sm, kernel);
  const auto steps = next_occupancy_steps(sm, kernel);
  const auto limit = [](int blocks) { return blocks == INT_MAX ? Json(nullptr) : Json(blocks); };
  const auto words = [](const Json& blocks) {
    return blocks.is_null() ? "no limit" : blocks.dump();
  };
  const Json by_registers = limit(o.blocks_by_registers), by_shared = limit(o.blocks_by_shared);
  said.say("{:<7} {}\n", name_of(sm), o.sentence);
  said.say(
      "        blocks that fit by warps {}, by registers {}, by shared memory {}, by slots {}\n",
      o.blocks_by_warps, words(by_registers), words(by_shared), o.blocks_by_blocks);
  said.say("        a block is allocated {} registers and {} bytes of shared memory\n",
           o.registers_per_block, o.shared_per_block);
  Json next = Json::array();
  for (const auto& step : steps) {
    said.say("        next step: {}\n", step.sentence);
    next.push_back({{"resource", step.resource},
                    {"now", step.now},
                    {"needed", step.needed},
                    {"blocks", step.then.blocks},
                    {"warps", step.then.warps},
                    {"occupancy", step.then.fraction},
                    {"sentence", step.sentence}});
  }
  if (steps.empty() && o.warps < sm.warps)
    said.say("        next step: none by one resource alone\n");
  return {{"architecture", name_of(sm)},
          {"blocks_per_sm", o.blocks},
          {"warps_per_sm", o.warps},
          {"max_warps_per_sm", sm.warps},
          {"occupancy", o.fraction},
          {"limiter", name(o.limiter)},
          {"blocks_by",
           {{"warps", o.blocks_by_warps},
            {"registers", by_registers},
            {"shared_memory", by_shared},
            {"blocks", o.blocks_by_blocks}}},
          {"registers_per_block", o.registers_per_block},
          {"shared_bytes_per_block", o.shared_per_block},
          {"sentence", o.sentence},
          {"next_steps", std::move(next)}};
}

Prediction predict(const OccupancyArguments& arguments) {
  const KernelResources& k = arguments.kernel;
  std::vector<SmLimits> chosen;
  for (const auto& text : arguments.architectures) chosen.push_back(architecture(text));
  if (chosen.empty()) chosen.assign(all_sm_limits().begin(), all_sm_limits().end());
  Prediction said;
  Json list = Json::array();
  for (const SmLimits& sm : chosen) list.push_back(say_occupancy(said, sm, k));
  said.json = {
      {"threads_per_block", k.threads_per_block},
      {"registers_per_thread", k.registers_per_thread},
      {"static_shared_bytes", k.static_shared_bytes},
      {"dynamic_shared_bytes", k.dynamic_shared_bytes},
      {"carveout_percent", k.carveout_percent < 0 ? Json(nullptr) : Json(k.carveout_percent)},
      {"architectures", std::move(list)}};
  return said;
}

void add_flags(CLI::App& app, OccupancyArguments& arguments) {
  KernelResources& kernel = arguments.kernel;
  app.add_option("--arch", arguments.architectures,
                 "Compute capability: sm_90, 90 or 9.0; may be given several times (default: all)")
      ->type_name("ARCH");
  number_flag(app, "--threads", kernel.threads_per_block, "Threads a block", 1, 1 << 20)
      ->required();
  number_flag(app, "--registers", kernel.registers_per_thread,
              "Registers a thread, as `nvcc -Xptxas -v` says", 0, 1 << 16)
      ->required();
  number_flag(app, "--shared", kernel.dynamic_shared_bytes, "Dynamic shared memory a block", 0,
              1 << 30, "BYTES")
      ->capture_default_str();
  number_flag(app, "--static-shared", kernel.static_shared_bytes,
              "Static shared memory a block, at most 49152", 0, 48 * 1024, "BYTES")
      ->capture_default_str();
  number_flag(app, "--carveout", kernel.carveout_percent,
              "Preferred share of shared memory, 0 to 100 % (default: the driver's choice)", 0, 100,
              "PERCENT");
  app.footer(
      "Examples:\n"
      "  fathom predict occupancy --arch 90 --threads 256 --registers 72\n"
      "  fathom predict occupancy --threads 128 --registers 40 --shared 65536 --json\n");
}

}  // namespace

Command occupancy_prediction() {
  return prediction<OccupancyArguments>(
      "occupancy", "Resident blocks and warps of a kernel, and what limits them", add_flags,
      predict);
}

}  // namespace fathom
