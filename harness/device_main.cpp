// fathom-device: what is known about a GPU before it is measured, as JSON on standard output, for
// the `fathom` command, which has no CUDA in it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/device_facts.h"
#include "harness/doctor.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/files.h"
#include "results/flag_checks.h"

using namespace fathom;

int main(int argc, char** argv) try {
  CLI::App app{"Prints what is known about a GPU as JSON.", "fathom-device"};
  app.footer(
      "Examples:\n  fathom-device --facts --device 1\n  fathom-device --doctor\n  fathom-device "
      "--gpus");
  bool facts = false, doctor = false, gpus = false;
  std::optional<int> device;
  const auto what = app.add_option_group("what");
  what->add_flag("--facts", facts, "fingerprint of one GPU");
  what->add_flag("--doctor", doctor, "checks of driver, toolkit, permissions and GPUs");
  what->add_flag("--gpus", gpus, "all GPUs that are visible: identity, PCI address, health");
  what->require_option(1);
  checked_flag(app, "--device", device, "CUDA's number of the GPU (facts: 0; doctor: all)",
               ordinal(), "N");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "fathom-device: {}: see fathom-device --help.\n", complaint(error));
    return to_int(ExitCode::bad_input);
  }
  nlohmann::ordered_json json;
  if (gpus)
    json["gpus"] = gpus_json(NvmlLibrary());
  else if (doctor)
    json = to_json(run_doctor(device));
  else
    json["fingerprint"] = to_json(query_device_facts(device.value_or(0)).fingerprint);
  // A process name or a path may hold any byte; JSON holds UTF-8 only.
  print_out(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  require_written_output();
} catch (const Error& error) {
  fmt::print(stderr, "fathom-device: {}\n", error.what());
  return to_int(error.code());
} catch (const std::exception& error) {
  fmt::print(stderr, "fathom-device: unexpected failure: {}\n", error.what());
  return to_int(ExitCode::probe_crashed);
}
