#pragma once

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/command_line.h"

namespace fathom {

/// What `fathom predict` says of a question: to people, and with --json to programs.
struct Prediction {
  std::string text{};
  nlohmann::ordered_json json{};

  /// Adds to the text.
  template <class... Args>
  void say(fmt::format_string<Args...> words, Args&&... args) {
    fmt::format_to(std::back_inserter(text), words, std::forward<Args>(args)...);
  }
};

/// Adds the flag --json, and returns what prints the prediction. A std::invalid_argument of a model
/// becomes Error(bad_input) with the model's sentence.
std::function<ExitCode()> printed(CLI::App& app, std::function<Prediction()> predict);

/// A command of `fathom predict`: `add` adds its flags but --json.
template <class Arguments>
Command prediction(const char* name, const char* summary, void (*add)(CLI::App&, Arguments&),
                   Prediction (*predict)(const Arguments&)) {
  return {.name = name, .summary = summary, .add = [add, predict](CLI::App& app) {
            const auto arguments = std::make_shared<Arguments>();
            add(app, *arguments);
            return printed(app, [arguments, predict] { return predict(*arguments); });
          }};
}

Command shared_prediction();
Command global_prediction();
Command occupancy_prediction();
Command waves_prediction();
Command roofline_prediction();
Command swizzle_prediction();
Command transformer_prediction();

/// `fathom predict` with them: what should happen, computed without a GPU.
Command predict_command();

}  // namespace fathom
