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

/// A command of `fathom predict`: `add` adds its flags but --json, and returns what predicts. A
/// std::invalid_argument of a model becomes Error(bad_input) with the model's sentence.
Command prediction(const char* name, const char* summary,
                   std::function<std::function<Prediction()>(CLI::App&)> add);

/// One with arguments of its own.
template <class Arguments>
Command prediction(const char* name, const char* summary, void (*add)(CLI::App&, Arguments&),
                   Prediction (*predict)(const Arguments&)) {
  return prediction(name, summary, [add, predict](CLI::App& app) {
    const auto arguments = std::make_shared<Arguments>();
    add(app, *arguments);
    return [arguments, predict] { return predict(*arguments); };
  });
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
