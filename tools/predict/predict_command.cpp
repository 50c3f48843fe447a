#include "tools/predict/predict_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cctype>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "results/error.h"

namespace fathom {
namespace {

/// The models say in lower case, and without a full stop, what is wrong with their input.
std::string as_sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text.back() == '.' ? text : text + ".";
}

Command prediction(const char* name, const char* summary, const AddCommand& add) {
  return {.name = name, .summary = summary, .add = [add](CLI::App& app) {
            return [act = add(app)] {
              try {
                return act();
              } catch (const std::invalid_argument& refusal) {
                throw Error(ExitCode::bad_input, as_sentence(refusal.what()));
              }
            };
          }};
}

}  // namespace

Command predict_command() {
  return {
      .name = "predict",
      .summary = "Predict counters, occupancy, ... without a GPU",
      .noun = "prediction",
      .footer =
          "Examples:\n"
          "  fathom predict shared load --stride 8          bank conflicts, with a picture\n"
          "  fathom predict global load --base 4            sectors, with a picture\n"
          "  fathom predict occupancy --arch 90 --threads 256 --registers 72\n"
          "  fathom predict waves --gemm 4096 4096 4096 --gpu H200\n"
          "  fathom predict roofline --gemm 4096 4096 4096 --gpu H200\n"
          "  fathom predict swizzle --rows 32 --row-elements 32\n"
          "  fathom predict transformer --params 70B --gpu H200 --gpus 2\n"
          "`fathom predict NAME --help` says more.\n",
      .commands = {
          prediction("shared", "Wavefronts and bank conflicts of a warp's access",
                     shared_prediction()),
          prediction("global", "Sectors and requests of a warp's access or of a whole kernel",
                     global_prediction()),
          prediction("occupancy", "Resident blocks and warps of a kernel, and what limits them",
                     occupancy_prediction()),
          prediction("waves", "What whole waves and whole tiles cost a grid or matrix product",
                     waves_prediction()),
          prediction("roofline", "What bounds a kernel of given bytes and FLOPs",
                     roofline_prediction()),
          prediction("swizzle", "The padding or XOR swizzle of a tile with the fewest conflicts",
                     swizzle_prediction()),
          prediction("transformer", "Memory, GPUs and least time that a language model needs",
                     transformer_prediction())}};
}

ExitCode print_json(const nlohmann::ordered_json& answer) {
  fmt::print("{}\n", answer.dump(2));
  return ExitCode::ok;
}

}  // namespace fathom
