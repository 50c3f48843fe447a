#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "models/warp_access.h"
#include "tools/predict/predict_command.h"

namespace fathom {

// Warp accesses as `predict shared` and `predict global` take them: one by flags, or many in a CSV
// file.

struct PatternFlags {
  std::string op = "load";
  int bytes = 4;
  std::uint64_t base = 0;
  std::optional<std::uint64_t> stride;  ///< none: contiguous
  std::optional<int> column, row;       ///< of the tile
  int first = 0;                        ///< row or column of lane 0
  std::optional<int> row_elements;      ///< none: 32
  models::Tile tile;
  std::optional<std::string> lanes;  ///< "0,4,,12": an address a lane
  std::optional<std::string> file;   ///< patterns in bulk
};

/// Adds the flags to a subcommand; those that contradict each other exclude each other.
void add_pattern_flags(CLI::App& app, PatternFlags& flags);

/// Throws Error(bad_input), or std::invalid_argument where the model's builders do.
models::WarpAccess access_of(const PatternFlags& flags);

/// For the help of both.
inline constexpr const char* patterns_help =
    "FILE has the header op,bytes,lane0,...,lane31 and a row for each access: load or store,\n"
    "bytes a lane, and a byte address a lane, empty where it is inactive. Nothing is printed\n"
    "unless every row is good.\n\n";

/// Two numbers that a model says of one warp access.
using AnswerOfAccess = std::array<int, 2> (*)(const models::WarpAccess&);

/// The answers to a file's accesses: `header`, then one row for each of the file's, whose addresses
/// are decimal, or hexadecimal from 0x on. Lines end in LF or CR LF, and the last one's end may be
/// missing.
///
/// All or nothing: throws Error(bad_input) that names row and column of the first mistake. Rows
/// count from 1 after the header; the message gives the line too.
std::string answer_patterns(const std::string& file, std::string_view header,
                            AnswerOfAccess answer);

/// What is said of one access begins with it: "Load of 4 bytes a lane, active lanes 0-31".
Prediction prediction_of(const models::WarpAccess& access);

/// "0-7,16,18-20" of a mask.
std::string lane_list(std::uint32_t lanes);

/// The lanes of a mask as numbers.
nlohmann::ordered_json lanes_to_json(std::uint32_t lanes);

}  // namespace fathom
