#include "tools/predict/predict_command.h"

#include <fmt/format.h>

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
      "  fathom predict occupancy --arch 90 --threads 256 --registers 72\n"
      "`fathom predict NAME --help` says more.\n");
  Commands commands;
  add(commands, predict, "occupancy", "Resident blocks and warps of a kernel, and what limits them",
      add_predict_occupancy);
  return commands;
}

}  // namespace fathom
