#include "harness/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/counters/range_profiler.h"
#include "harness/cuda_check.h"
#include "harness/timing.h"
#include "results/document_fields.h"

namespace fathom {

FATHOM_WORDS(CheckStatus, "ok", "warn", "fail", "skip")
FATHOM_FIELDS(Check, "", "", id, status, gpu, what, detail, what_to_do);

namespace {

using Json = nlohmann::ordered_json;

constexpr double megahertz = 1e6;
constexpr double mebibyte = 1 << 20;

/// Other programs' memory below this does not disturb a measurement: it is a driver's own.
constexpr double unremarkable_mebibytes = 512;

Finding ok(std::string detail) { return {CheckStatus::ok, std::move(detail)}; }
Finding warn(std::string detail, std::string what_to_do) {
  return {CheckStatus::warn, std::move(detail), std::move(what_to_do)};
}
Finding fault(std::string detail, std::string what_to_do = {}) {
  return {CheckStatus::fail, std::move(detail), std::move(what_to_do)};
}
Finding skip(std::string detail) { return {CheckStatus::skip, std::move(detail)}; }

std::string on_off(bool on) { return on ? "on" : "off"; }

std::string mhz(const Reading<double>& hertz) {
  return hertz ? fmt::format("{:.0f}", *hertz / megahertz) : "?";
}

std::string describe(const NvmlProcess& process) {
  std::string name;
  std::ifstream file(fmt::format("/proc/{}/comm", process.pid));
  std::getline(file, name);
  return fmt::format("process {}{}", process.pid, name.empty() ? "" : " (" + name + ")");
}

/// "the driver is absent" -> "The driver is absent."
std::string sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  if (text.back() != '.') text += '.';
  return text;
}

}  // namespace

std::vector<Check> check_software(const CudaDeviceCount& devices, const CudaVersions& versions,
                                  const NvmlLibrary& nvml) {
  const bool works = devices.count > 0, has_driver = versions.driver != 0;
  const CudaFailure why = explain_no_gpu(devices.status, versions, nvml);
  const Finding closed = fault(why.cause + ".", sentence(why.remedy));
  const std::string built =
      fmt::format("runtime {}, toolkit {}", version_text(versions.runtime), FATHOM_TOOLKIT_VERSION);
  const std::string absent = sentence(to_string(nvml.status()));
  const Finding utilities =
      nvml.available() ? ok(fmt::format("sees {} GPU(s)", nvml.device_count().value_or(0)))
      : has_driver     ? warn(absent,
                              "Install the driver's utilities (package nvidia-smi) for clocks, "
                                  "power and throttle reasons.")
                       : skip(absent);
  return {{has_driver
               ? ok(fmt::format("{}, supports CUDA {}", nvml.driver_version().value_or("present"),
                                version_text(versions.driver)))
               : closed,
           "driver", "NVIDIA driver"},
          {works        ? ok(built)
           : has_driver ? closed
                        : skip(built + "; needs the driver"),
           "cuda", "CUDA"},
          {utilities, "nvml", "NVML"}};
}

std::vector<Check> check_gpu(int ordinal, const Reading<NvmlDevice>& found) {
  if (!found) {
    const std::string problem = "cannot read this GPU: " + found.missing();
    const Finding unread =
        found.lost()
            ? fault(problem,
                    "Look for Xid lines in the kernel log (dmesg) and restart the machine.")
            : warn(problem,
                   "Results come without clocks, power and throttle reasons until NVML works.");
    return {{unread, "nvml_device", "NVML", ordinal}};
  }
  const NvmlDevice& gpu = *found;
  std::vector<Check> checks;
  // What `judge` says of a reading; skipped where there is none.
  const auto look = [&](const char* id, const char* what, const auto& reading, auto judge) {
    const Finding judged = reading ? judge(*reading) : skip("unknown: " + reading.missing());
    checks.push_back({judged, id, what, ordinal});
  };

  look("ecc", "ECC", gpu.ecc(), [](const NvmlMode& mode) {
    if (mode.current == mode.pending) return ok(on_off(mode.current));
    return warn(
        fmt::format("{}, but {} after the next reset", on_off(mode.current), on_off(mode.pending)),
        "Restart the machine before measuring, so that results stay comparable.");
  });
  look("memory_errors", "Memory errors", gpu.uncorrected_ecc_errors(), [&](std::uint64_t errors) {
    const NvmlRemappedRows remapped = gpu.remapped_rows().value_or({});
    const std::string detail =
        fmt::format("{} uncorrected since the driver was loaded, {} rows remapped{}", errors,
                    remapped.corrected + remapped.uncorrected,
                    remapped.pending ? ", more wait for a reset" : "");
    if (remapped.failed)
      return fault("A row could not be remapped; " + detail,
                   "Have the GPU replaced: its memory is damaged.");
    if (remapped.pending || errors > 0)
      return warn(detail,
                  "Reset the GPU (nvidia-smi --gpu-reset) or restart the machine; if errors come "
                  "back, have the GPU replaced.");
    return ok(detail);
  });

  look("mig", "MIG", gpu.mig(), [](const NvmlMode& mode) {
    if (!mode.current) return ok("off");
    return warn("on: only a part of the GPU is measured, and bounds are those of the whole",
                "Switch MIG off (nvidia-smi -mig 0, as root) to measure the whole GPU.");
  });
  look("virtualization", "Virtualisation", gpu.virtualization(), [](const std::string& mode) {
    if (mode != "vGPU") return ok(mode);
    return warn("a vGPU: others may share the GPU, and counters need the host's consent",
                "Ask for a whole GPU (passthrough) to measure the hardware itself.");
  });

  look("clocks", "Clocks", gpu.clock_hz(NvmlClock::sm, NvmlClockKind::highest), [&](double most) {
    const std::string detail =
        fmt::format("SM {} of {:.0f} MHz", mhz(gpu.clock_hz(NvmlClock::sm)), most / megahertz);
    const auto set = gpu.clock_hz(NvmlClock::sm, NvmlClockKind::set);
    const auto normal = gpu.clock_hz(NvmlClock::sm, NvmlClockKind::set_by_default);
    if (!set || !normal || *set >= *normal) return ok(detail);
    return warn(
        fmt::format("{}; the application clock is set to {} MHz, below its default of {} MHz",
                    detail, mhz(set), mhz(normal)),
        "Set it back (nvidia-smi -rac, and -rgc for locked clocks).");
  });
  look("power_limit", "Power limit", gpu.power_limit_w(), [&](double limit) {
    const auto normal = gpu.default_power_limit_w();
    // NVML rounds to milliwatts: half a watt less is no setting of a user.
    if (!normal || limit >= *normal - 0.5) return ok(fmt::format("{:.0f} W", limit));
    return warn(fmt::format("{:.0f} W, below the default of {:.0f} W", limit, *normal),
                fmt::format("Set it back (nvidia-smi -pl {:.0f}, as root), or compare only with "
                            "runs at this limit.",
                            *normal));
  });
  look("throttling", "Throttling", gpu.clock_event_reasons(), [](std::uint64_t bits) {
    std::vector<std::string> reasons = throttle_reason_names(bits);
    // Set whenever clocks follow the application clock, at its default too: see `clocks`.
    std::erase(reasons, "applications_clocks_setting");
    if (reasons.empty()) return ok("none");
    return warn(fmt::format("clocks are held down before the measurement starts: {}",
                            fmt::join(reasons, ", ")),
                "See to cooling and power supply, and wait until other work on the GPU has ended.");
  });
  look("processes", "Other processes", gpu.compute_processes(), [&](const auto& list) {
    std::vector<std::string> names;
    for (const NvmlProcess& process : list) names.push_back(describe(process));
    if (names.empty()) return ok("none visible");
    return warn(fmt::format("{}", fmt::join(names, ", ")),
                "End them, or wait: they share the GPU's time, power and memory.");
  });
  look("memory", "GPU memory", gpu.memory(), [&](const NvmlMemory& memory) {
    const double used = static_cast<double>(memory.used) / mebibyte;
    const std::string detail =
        fmt::format("{:.0f} of {:.0f} MiB are free", static_cast<double>(memory.free) / mebibyte,
                    static_cast<double>(memory.total) / mebibyte);
    if (used <= unremarkable_mebibytes) return ok(detail);
    return warn(fmt::format("{}; other programs use {:.0f} MiB", detail, used),
                "End the programs that use it (nvidia-smi lists those of this container only).");
  });
  look("pcie_link", "PCIe link", gpu.pcie_link(), [](const NvmlPcieLink& link) {
    const std::string detail = fmt::format("generation {} of {}, width x{} of x{}", link.generation,
                                           link.generation_max, link.width, link.width_max);
    if (link.width >= link.width_max) return ok(detail);
    return warn(detail + ": fewer lanes than the GPU has",
                "Check the slot and the seating of the GPU; copies to and from it are slower.");
  });
  return checks;
}

std::vector<Check> run_doctor(std::optional<int> only) {
  const NvmlLibrary nvml;
  const CudaDeviceCount devices = count_cuda_devices();
  std::vector<Check> checks = check_software(devices, read_cuda_versions(), nvml);
  if (devices.count == 0) {
    // CUDA is closed, but NVML may still tell what is wrong with a GPU; the numbers are NVML's.
    for (unsigned i = 0; i < nvml.device_count().value_or(0); ++i)
      std::ranges::move(check_gpu(static_cast<int>(i), nvml.device_by_index(i)),
                        std::back_inserter(checks));
    return checks;
  }
  const int first = only.value_or(0);
  const int last = only.value_or(devices.count - 1);
  for (int ordinal = first; ordinal <= last; ++ordinal) {
    try {
      const CudaDevice device = read_cuda_device(ordinal, nvml);
      checks.push_back({ok(fmt::format("{}, compute capability {}.{}, {} SMs", device.name,
                                       device.major, device.minor, device.sms)),
                        "gpu", "GPU", ordinal});
      std::ranges::move(check_gpu(ordinal, nvml.device_by_pci_bus_id(device.pci_bus_id)),
                        std::back_inserter(checks));
      // Last: these open a context, which would show among the GPU's processes.
      FATHOM_CUDA(cudaSetDevice(ordinal));
      SmClock(make_stream().get());  // throws where this build has no code for the GPU
      const std::string problem = CounterSession::problem_on(ordinal);
      const Finding counters =
          problem.empty() ? ok("can be read")
                          : warn(problem, "Results come without counters until this is mended.");
      checks.push_back({counters, "counters", "Hardware counters", ordinal});
    } catch (const Error& error) {
      checks.push_back({fault(error.what()), "gpu", "GPU", ordinal});
    }
  }
  return checks;
}

Json to_json(const std::vector<Check>& checks) { return {{"checks", write_fields(checks)}}; }

Json health_json(const Reading<NvmlDevice>& gpu) {
  const auto link = gpu ? gpu->pcie_link() : Reading<NvmlPcieLink>{};
  const auto rows = gpu ? gpu->remapped_rows() : Reading<NvmlRemappedRows>{};
  const auto errors = gpu ? gpu->uncorrected_ecc_errors() : Reading<std::uint64_t>{};
  const auto processes = gpu ? gpu->compute_processes() : Reading<std::vector<NvmlProcess>>{};
  return {{"pcie_generation", link ? Json(link->generation_max) : Json()},
          {"pcie_width", link ? Json(link->width) : Json()},
          {"uncorrected_ecc_errors", write_fields(errors.value)},
          {"remapped_rows", rows ? Json(rows->corrected + rows->uncorrected) : Json()},
          {"remapping_failed", rows && rows->failed},
          {"remapping_pending", rows && rows->pending},
          {"processes", processes ? Json(processes->size()) : Json()}};
}

Json gpus_json(const NvmlLibrary& nvml) {
  Json gpus = Json::array();
  const int count = count_cuda_devices().count;
  // Where there is no GPU, the first says why.
  for (int ordinal = 0; ordinal < std::max(1, count); ++ordinal) {
    const CudaDevice device = read_cuda_device(ordinal, nvml);
    gpus.push_back({{"ordinal", device.ordinal},
                    {"name", device.name},
                    {"uuid", uuid_text(device.uuid)},
                    {"uuid_hash", uuid_hash(device.uuid)},
                    {"pci_bus_id", device.pci_bus_id},
                    {"health", health_json(nvml.device_by_pci_bus_id(device.pci_bus_id))}});
  }
  return gpus;
}

std::string uuid_text(const std::array<unsigned char, 16>& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

}  // namespace fathom
