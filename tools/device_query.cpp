#include "tools/device_query.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "results/error.h"
#include "tools/child_process.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Loading the driver's libraries and waking an idle GPU takes seconds at worst.
constexpr std::chrono::seconds answer_limit{60};
constexpr const char* program_name = "fathom-device";

std::string sentence_of(const std::string& errors) {
  const std::string prefix = fmt::format("{}: ", program_name);
  const std::string line = last_line(errors);
  return line.starts_with(prefix) ? line.substr(prefix.size()) : line;
}

Json ask(const fs::path& programs, const std::vector<std::string>& arguments) {
  const CapturedRun run = run_and_capture(programs / program_name, arguments, answer_limit);
  const ProcessEnd& end = run.end.end;
  if (run.end.stopped == Stopped::time_limit)
    throw Error(ExitCode::gpu_lost,
                fmt::format("The NVIDIA driver did not answer within {} s: restart the machine or "
                            "reset the GPU.",
                            answer_limit.count()));
  if (end.signal != 0)
    throw Error(ExitCode::gpu_lost,
                fmt::format("{} was ended by {} while it asked the driver: see `dmesg` for what "
                            "the driver says.",
                            program_name, end.describe()));
  if (end.status != 0) {
    const std::string sentence = sentence_of(run.errors);
    throw Error(static_cast<ExitCode>(end.status),
                sentence.empty() ? fmt::format("{} ended with {}.", program_name, end.describe())
                                 : sentence);
  }
  try {
    return Json::parse(run.output);
  } catch (const Json::exception&) {
    throw Error(ExitCode::setup_incomplete,
                fmt::format("{} gave no answer that fits this program: build Fathom again with "
                            "./fathom run.",
                            (programs / program_name).string()));
  }
}

template <class T>
std::optional<T> optional_value(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->get<T>();
}

Fingerprint parse_fingerprint(const Json& json) {
  Fingerprint print;
  const auto text = [&](const char* key, std::string& into) {
    into = optional_value<std::string>(json, key).value_or("");
  };
  print.gpu_name = json.at("gpu_name");
  print.gpu_uuid_hash = json.at("gpu_uuid_hash");
  text("compute_capability", print.compute_capability);
  text("vbios", print.vbios);
  text("driver", print.driver);
  text("cuda_driver", print.cuda_driver);
  text("cuda_runtime", print.cuda_runtime);
  text("toolkit", print.toolkit);
  print.sms = optional_value<std::int64_t>(json, "sms");
  print.memory_bytes = optional_value<std::int64_t>(json, "memory_bytes");
  print.l2_bytes = optional_value<std::int64_t>(json, "l2_bytes");
  print.memory_bus_bits = optional_value<std::int64_t>(json, "memory_bus_bits");
  print.sm_clock_max_hz = optional_value<double>(json, "sm_clock_max_hz");
  print.memory_clock_max_hz = optional_value<double>(json, "memory_clock_max_hz");
  print.power_limit_w = optional_value<double>(json, "power_limit_w");
  text("ecc", print.ecc);
  text("mig", print.mig);
  text("persistence", print.persistence);
  text("pcie_link", print.pcie_link);
  text("virtualization", print.virtualization);
  text("compute_mode", print.compute_mode);
  text("confidential_computing", print.confidential_computing);
  return print;
}

std::string first_word_of(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

}  // namespace

Fingerprint query_device(const fs::path& programs, int device) {
  return parse_fingerprint(
      ask(programs, {"--facts", "--device", std::to_string(device)}).at("fingerprint"));
}

std::vector<DoctorCheck> query_checks(const fs::path& programs, std::optional<int> device) {
  std::vector<std::string> arguments{"--doctor"};
  if (device) arguments.insert(arguments.end(), {"--device", std::to_string(*device)});
  const Json answer = ask(programs, arguments);
  std::vector<DoctorCheck> checks;
  for (const Json& check : answer.at("checks"))
    checks.push_back({check.at("id"), check.at("status"), optional_value<int>(check, "gpu"),
                      check.at("what"), check.at("detail"), check.at("what_to_do")});
  return checks;
}

std::string nvidia_gpu_on_pci() {
  const char* folder = std::getenv("FATHOM_PCI_DEVICES");
  std::error_code error;
  for (const auto& device : fs::directory_iterator(folder ? folder : "/sys/bus/pci/devices", error))
    // Class 0x03: display controllers, which data-centre GPUs without an output are as well.
    if (first_word_of(device.path() / "vendor") == "0x10de" &&
        first_word_of(device.path() / "class").starts_with("0x03"))
      return device.path().filename();
  return {};
}

}  // namespace fathom
