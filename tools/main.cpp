#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <system_error>

#include "results/error.h"
#include "tools/command_line.h"

int main(int argc, char** argv) {
  // A reader that goes away (`fathom run | head`) must not cost the measurement.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return fathom::to_int(fathom::run_command_line(argc, argv));
  } catch (const fathom::Error& error) {
    fmt::print(stderr, "fathom: {}\n", error.what());
    return fathom::to_int(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    const bool full = error.code() == std::errc::no_space_on_device;
    fmt::print(stderr, "fathom: {}: choose another folder with --out.\n", error.what());
    return to_int(full ? fathom::ExitCode::output_full : fathom::ExitCode::output_unwritable);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fathom: This is a defect in Fathom, please report it: {}\n", error.what());
    return fathom::to_int(fathom::ExitCode::incomplete);
  }
}
