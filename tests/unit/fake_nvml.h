#pragma once

#include "tests/testing.h"

namespace fathom {

constexpr const char* absent_nvml = "/nonexistent/libnvidia-ml.so.1";

/// Sets what the fake NVML answers, or another library in its place, and takes it back.
class FakeNvml : public Environment {
 public:
  using Answers = std::map<std::string, std::string>;
  explicit FakeNvml(const Answers& answers = {}, const char* library = FATHOM_FAKE_NVML) {
    set("FATHOM_NVML_LIBRARY", library);
    for (const auto& [name, value] : answers) set("FAKE_NVML_" + name, value);
  }
};

}  // namespace fathom
