#include "tools/predict/predict_command.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <stdexcept>

#include "results/error.h"
#include "tools/predict/subcommands.h"

namespace fathom {
namespace {

/// The models say in lower case, and without a full stop, what is wrong with their input.
std::string as_sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text.back() == '.' ? text : text + ".";
}

using AddFlags = std::function<ExitCode()> (*)(CLI::App&);

void add(Commands& commands, CLI::App& predict, const std::string& name,
         const std::string& description, AddFlags add_flags) {
  CLI::App* app = predict.add_subcommand(name, description);
  auto act = add_flags(*app);
  commands[name] = {app, [act] {
                      try {
                        return act();
                      } catch (const std::invalid_argument& refusal) {
                        throw Error(ExitCode::bad_input, as_sentence(refusal.what()));
                      }
                    }};
}

}  // namespace

Commands add_predict(CLI::App& predict) {
  predict.footer(
      "Examples:\n"
      "  fathom predict shared load --stride 8          bank conflicts, with a picture\n"
      "  fathom predict global load --base 4            sectors, with a picture\n"
      "  fathom predict occupancy --arch 90 --threads 256 --registers 72\n"
      "  fathom predict waves --gemm 4096 4096 4096 --gpu H200\n"
      "  fathom predict roofline --gemm 4096 4096 4096 --gpu H200\n"
      "  fathom predict swizzle --rows 32 --row-elements 32\n"
      "  fathom predict transformer --params 70B --gpu H200 --gpus 2\n"
      "`fathom predict NAME --help` says more.\n");
  Commands commands;
  add(commands, predict, "shared", "Wavefronts and bank conflicts of a warp's access",
      add_predict_shared);
  add(commands, predict, "global", "Sectors and requests of a warp's access or of a whole kernel",
      add_predict_global);
  add(commands, predict, "occupancy", "Resident blocks and warps of a kernel, and what limits them",
      add_predict_occupancy);
  add(commands, predict, "waves", "What whole waves and whole tiles cost a grid or matrix product",
      add_predict_waves);
  add(commands, predict, "roofline", "What bounds a kernel of given bytes and FLOPs",
      add_predict_roofline);
  add(commands, predict, "swizzle",
      "The padding or XOR swizzle of a tile with the fewest conflicts", add_predict_swizzle);
  add(commands, predict, "transformer", "Memory, GPUs and least time that a language model needs",
      add_predict_transformer);
  return commands;
}

}  // namespace fathom
