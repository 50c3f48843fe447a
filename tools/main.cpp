#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>

#include "results/clean_text.h"
#include "results/error.h"
#include "results/standard_streams.h"
#include "tools/command_line.h"

/// To standard error, of which the reader may have gone too: then nobody is told, where fmt::print
/// would throw. A sentence may quote arguments and files, which hold anything.
static void tell(const std::string& sentence) {
  std::fputs(("fathom: " + fathom::clean(sentence) + "\n").c_str(), stderr);
}

int main(int argc, char** argv) {
  fathom::open_standard_streams();
  fathom::end_on_interrupts();
  // A reader that goes away (`fathom run | head`) must not cost the measurement.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return fathom::to_int(fathom::run_command_line(argc, argv));
  } catch (const fathom::Error& error) {
    tell(error.what());
    return fathom::to_int(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    const bool full = error.code() == std::errc::no_space_on_device;
    tell(fmt::format("{}: choose another folder with --out.", error.what()));
    return to_int(full ? fathom::ExitCode::output_full : fathom::ExitCode::output_unwritable);
  } catch (const std::exception& error) {
    tell(fmt::format("This is a defect in Fathom, please report it: {}", error.what()));
    return fathom::to_int(fathom::ExitCode::incomplete);
  }
}
