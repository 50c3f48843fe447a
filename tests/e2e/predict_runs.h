#pragma once

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sandbox.h"

namespace fathom {

using Words = std::vector<std::string>;

inline CapturedRun predict(Sandbox& box, Words words) {
  words.insert(words.begin(), "predict");
  return box.fathom(words);
}

/// What a prediction that succeeds prints.
inline std::string text_of(Sandbox& box, const Words& words) {
  const auto run = predict(box, words);
  INFO(run.errors);
  REQUIRE(code(run) == 0);
  CHECK(run.errors.empty());
  return run.output;
}
inline std::string text_of(const Words& words) {
  Sandbox box({});
  return text_of(box, words);
}

inline nlohmann::json json_of(Sandbox& box, Words words) {
  words.push_back("--json");
  return nlohmann::json::parse(text_of(box, words));
}
inline nlohmann::json json_of(const Words& words) {
  Sandbox box({});
  return json_of(box, words);
}

}  // namespace fathom
