#pragma once

#include <stdlib.h>

#include "tests/testing.h"

namespace fathom {

constexpr const char* absent_nvml = "/nonexistent/libnvidia-ml.so.1";

/// Sets what the fake NVML answers, or another library in its place, and takes it back.
class FakeNvml {
 public:
  using Answers = std::map<std::string, std::string>;
  explicit FakeNvml(const Answers& answers = {}, const char* library = FATHOM_FAKE_NVML) {
    set("FATHOM_NVML_LIBRARY", library);
    for (const auto& [name, value] : answers) set("FAKE_NVML_" + name, value);
  }
  ~FakeNvml() {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

 private:
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    names_.push_back(name);
  }
  std::vector<std::string> names_;
};

}  // namespace fathom
