#pragma once

#include <stdexcept>
#include <string>

#include "results/exit_codes.h"

namespace fathom {

/// Every failure that a user can meet: one clear sentence that says what to do about it, and the
/// exit code with which a program ends on it. Programs catch it in `main`, print `what()` on
/// standard error, and return `code()`.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace fathom
