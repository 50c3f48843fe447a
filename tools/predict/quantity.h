#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fathom {

// Checks of large numbers with a suffix; each hands the plain number on.

/// 0 or more, with k, M, G, T, P for powers of 1000 or Ki, Mi, Gi, Ti, Pi for powers of 1024, and
/// `unit` ("B", "B/s", "FLOP") after it or not: "4GiB", "1.5 TB/s", "137e9".
CLI::Validator quantity(const std::string& unit);

/// A count from 1 on with such a suffix, or B for G, as models' sizes are written: "7B", "405e9".
CLI::Validator model_size();

}  // namespace fathom
