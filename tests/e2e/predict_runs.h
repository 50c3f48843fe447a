#pragma once

#include <nlohmann/json.hpp>

#include "sandbox.h"

namespace fathom {

/// `fathom predict` with the words of this line.
inline CapturedRun predict(Sandbox& box, const std::string& line) {
  return box.fathom(words("predict " + line));
}

/// What a prediction that succeeds prints.
inline std::string text_of(const std::string& line) {
  Sandbox box({});
  return CapturedRun(expect(0, predict(box, line)).no_errors()).output;
}
inline nlohmann::json json_of(const std::string& line) {
  return nlohmann::json::parse(text_of(line + " --json"));
}

}  // namespace fathom
