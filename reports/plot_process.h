#pragma once

#include <chrono>
#include <string>

namespace fathom::plots {

/// What a program made of its input.
struct ProgramOutput {
  std::string output;
  std::string problem;  ///< empty if it ended well; else the rest of a sentence: "is not installed"
};

/// Runs `program`, found on PATH, as gnuplot is run: without a shell or start-up file, in the C
/// locale and an otherwise empty environment, so that the same script gives the same bytes. Kills
/// it at the time limit.
ProgramOutput run_gnuplot(const std::string& script,
                          std::chrono::milliseconds limit = std::chrono::seconds(30),
                          const std::string& program = "gnuplot");

}  // namespace fathom::plots
