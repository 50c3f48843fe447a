#pragma once

#include <array>
#include <string>
#include <string_view>

#include "models/warp_access.h"

namespace fathom {

/// Two numbers that a model says of one warp access.
using AnswerOfAccess = std::array<int, 2> (*)(const models::WarpAccess&);

/// Reads warp accesses from a CSV file, or from standard input for "-", and returns the answers as
/// CSV: `header`, then one row for each of the file's. The file's header is
/// `op,bytes,lane0,...,lane31`; `op` is load or store, `bytes` the width of a lane's access, a lane
/// is its byte address (decimal, or hexadecimal from 0x on) or empty where it is inactive. Lines
/// end in LF or CR LF, and the last one's end may be missing.
///
/// All or nothing: throws Error(bad_input) that names row and column of the first mistake. Rows
/// count from 1 after the header; the message gives the line too. The answers are kept until the
/// end, some 5 bytes a row; the question is never in memory as a whole.
std::string answer_patterns(const std::string& file, std::string_view header,
                            AnswerOfAccess answer);

/// The whole text as a number from 0 to 2^64 - 1, decimal or from 0x on hexadecimal.
bool parse_address(std::string_view text, std::uint64_t& address);

}  // namespace fathom
