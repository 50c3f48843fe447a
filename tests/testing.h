#pragma once

// What the tests share: Catch2, the standard library, and how a refusal is looked at. It is the
// tests' precompiled header.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "results/error.h"

using Catch::Approx;
using Catch::Matchers::EndsWith;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

/// Matches a text with this in it.
inline auto contains(std::string_view text) {
  return Catch::Matchers::ContainsSubstring(std::string(text));
}

inline auto contains(char character) { return contains(std::string_view(&character, 1)); }

/// What is in a file; nothing where there is none, and of a process in /proc that ends meanwhile
/// what there is.
inline std::string file_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The lines of a text.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The one of them whose member `name` is `wanted`, which must be there.
auto& named(auto& all, auto name, const auto& wanted) {
  const auto found = std::ranges::find(all, wanted, name);
  if (found == all.end()) throw std::out_of_range(fmt::format("no {}", wanted));
  return *found;
}

/// Environment variables that are set until this goes.
class Environment {
 public:
  Environment() = default;
  ~Environment() {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    names_.push_back(name);
  }

 private:
  std::vector<std::string> names_;
};

/// How something was refused: the exit code and the sentence, or `ok` and nothing.
struct Refusal {
  fathom::ExitCode code = fathom::ExitCode::ok;
  std::string text = {};
};

Refusal refusal_of(const auto& attempt) {
  try {
    attempt();
  } catch (const fathom::Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}
