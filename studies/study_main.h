#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>

#include "results/error.h"
#include "results/flag_checks.h"

namespace fathom {

/// A study as a whole program: errors are told on standard error, and become exit codes.
inline int run_study(CLI::App& app, int argc, char** argv, const std::function<int()>& act) {
  const auto refuse = [&](const std::string& why, ExitCode code) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), why);
    return to_int(code);
  };
  try {
    app.parse(argc, argv);
    return act();
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    return refuse(fmt::format("{}: see {} --help.", complaint(error), app.get_name()),
                  ExitCode::bad_input);
  } catch (const Error& error) {
    return refuse(error.what(), error.code());
  } catch (const std::exception& error) {
    return refuse(error.what(), ExitCode::bad_input);
  }
}

}  // namespace fathom
