#pragma once

#include <nlohmann/json.hpp>

#include "sandbox.h"

namespace fathom {

/// `fathom predict` with the words of this line.
inline CapturedRun predict(Sandbox& box, const std::string& line) {
  return box.fathom(words("predict " + line));
}

/// What a prediction that succeeds prints.
inline std::string text_of(Sandbox& box, const std::string& line) {
  const CapturedRun run = expect(0, predict(box, line)).no_errors();
  return run.output;
}
inline std::string text_of(const std::string& line) {
  Sandbox box({});
  return text_of(box, line);
}

inline nlohmann::json json_of(Sandbox& box, const std::string& line) {
  return nlohmann::json::parse(text_of(box, line + " --json"));
}
inline nlohmann::json json_of(const std::string& line) {
  Sandbox box({});
  return json_of(box, line);
}

}  // namespace fathom
