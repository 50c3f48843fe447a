#include "tools/device_query.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "results/document_io.h"
#include "results/fail.h"
#include "tools/child_process.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Loading the driver's libraries and waking an idle GPU takes seconds at worst.
constexpr std::chrono::seconds answer_limit{60};
constexpr const char* program_name = "fathom-device";

std::string answer_of(const CapturedRun& run) {
  const ProcessEnd& end = run.end;
  if (end.stopped == Stopped::time_limit)
    fail(ExitCode::gpu_lost,
         "The NVIDIA driver did not answer within {} s: restart the machine or reset the GPU.",
         answer_limit.count());
  if (end.signal != 0)
    fail(ExitCode::gpu_lost,
         "{} was ended by {} while it asked the driver: see `dmesg` for what the driver says.",
         program_name, end.describe());
  if (end.status != 0) {
    std::string sentence = last_line(run.errors);
    if (const auto prefix = fmt::format("{}: ", program_name); sentence.starts_with(prefix))
      sentence.erase(0, prefix.size());
    if (sentence.empty()) sentence = fmt::format("{} ended with {}.", program_name, end.describe());
    throw Error(static_cast<ExitCode>(end.status), sentence);
  }
  return run.output;
}

bool begins(const fs::path& file, const std::string& text) {
  std::string word;
  return std::ifstream(file) >> word && word.starts_with(text);
}

}  // namespace

void ask_device(const fs::path& programs, const std::vector<std::string>& arguments,
                const std::function<void(const Json&)>& read) {
  const std::string answer =
      answer_of(run_and_capture(programs / program_name, arguments, answer_limit));
  try {
    read(Json::parse(answer));
  } catch (const std::exception&) {
    fail(ExitCode::setup_incomplete,
         "{} gave no answer that fits this program: build Fathom again with ./fathom run.",
         (programs / program_name).string());
  }
}

Fingerprint query_device(const fs::path& programs, int device) {
  Fingerprint fingerprint;
  ask_device(programs, {"--facts", "--device", std::to_string(device)}, [&](const Json& answer) {
    fingerprint = fingerprint_from_json(answer.at("fingerprint"), program_name);
  });
  return fingerprint;
}

std::string nvidia_gpu_on_pci() {
  const char* folder = std::getenv("FATHOM_PCI_DEVICES");
  std::error_code error;
  for (const auto& device : fs::directory_iterator(folder ? folder : "/sys/bus/pci/devices", error))
    // Class 0x03: display controllers, which data-centre GPUs without an output are as well.
    if (begins(device.path() / "vendor", "0x10de") && begins(device.path() / "class", "0x03"))
      return device.path().filename();
  return {};
}

}  // namespace fathom
