#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "harness/doctor.h"

namespace fathom {
namespace {

constexpr double megahertz = 1e6;
constexpr double mebibyte = 1 << 20;

/// Other programs' memory below this does not disturb a measurement: it is a driver's own.
constexpr double unremarkable_mebibytes = 512;

struct Judgement {
  CheckStatus status;
  std::string detail, what_to_do{};
};
Judgement ok(std::string detail) { return {CheckStatus::ok, std::move(detail)}; }
Judgement warn(std::string detail, std::string what_to_do) {
  return {CheckStatus::warn, std::move(detail), std::move(what_to_do)};
}

std::string on_off(bool on) { return on ? "on" : "off"; }

std::string mhz(const Reading<double>& hertz) {
  return hertz ? fmt::format("{:.0f}", *hertz / megahertz) : "?";
}

std::string describe(const NvmlProcess& process) {
  std::string name;
  std::ifstream file(fmt::format("/proc/{}/comm", process.pid));
  std::getline(file, name);
  const std::string memory =
      process.used_bytes == NvmlProcess::unknown
          ? ""
          : fmt::format(", {:.0f} MiB", static_cast<double>(process.used_bytes) / mebibyte);
  return fmt::format("process {}{}{}", process.pid, name.empty() ? "" : " (" + name + ")", memory);
}

struct GpuChecks {
  int ordinal;
  const NvmlDevice& gpu;
  std::vector<Check> checks{};

  /// What `judge` says of a reading; skipped where there is none.
  template <class T, class Judge>
  void look(const char* id, const char* what, const Reading<T>& reading, Judge judge) {
    const Judgement judged =
        reading ? judge(*reading) : Judgement{CheckStatus::skip, "unknown: " + reading.missing()};
    checks.push_back({id, judged.status, ordinal, what, judged.detail, judged.what_to_do});
  }

  void memory_health() {
    look("ecc", "ECC", gpu.ecc(), [](const NvmlMode& mode) {
      if (mode.current == mode.pending) return ok(on_off(mode.current));
      return warn(fmt::format("{}, but {} after the next reset", on_off(mode.current),
                              on_off(mode.pending)),
                  "Restart the machine before measuring, so that results stay comparable.");
    });
    const auto errors = gpu.uncorrected_ecc_errors();
    auto rows = gpu.remapped_rows();
    if (!rows && errors) rows.value.emplace();
    if (!rows) rows.status = errors.status;
    look("memory_errors", "Memory errors", rows, [&](const NvmlRemappedRows& remapped) {
      const std::string detail =
          fmt::format("{} uncorrected since the driver was loaded, {} rows remapped{}",
                      errors.value_or(0), remapped.corrected + remapped.uncorrected,
                      remapped.pending ? ", more wait for a reset" : "");
      if (remapped.failed)
        return Judgement{CheckStatus::fail, "A row could not be remapped; " + detail,
                         "Have the GPU replaced: its memory is damaged."};
      if (remapped.pending || errors.value_or(0) > 0)
        return warn(detail,
                    "Reset the GPU (nvidia-smi --gpu-reset) or restart the machine; if errors come "
                    "back, have the GPU replaced.");
      return ok(detail);
    });
  }

  void modes(const NvmlLibrary& nvml) {
    look("mig", "MIG", gpu.mig(), [](const NvmlMode& mode) {
      if (!mode.current) return ok("off");
      return warn("on: only a part of the GPU is measured, and bounds are those of the whole",
                  "Switch MIG off (nvidia-smi -mig 0, as root) to measure the whole GPU.");
    });
    look("virtualization", "Virtualisation", gpu.virtualization(), [](NvmlVirtualization mode) {
      if (mode == NvmlVirtualization::vgpu)
        return warn("a vGPU: others may share the GPU, and counters need the host's consent",
                    "Ask for a whole GPU (passthrough) to measure the hardware itself.");
      return ok(mode == NvmlVirtualization::none          ? "none"
                : mode == NvmlVirtualization::passthrough ? "a whole GPU passed through to this "
                                                            "machine"
                                                          : "this machine is a vGPU host");
    });
    look("confidential_computing", "Confidential computing", nvml.confidential_computing(),
         [](bool on) {
           if (!on) return ok("off");
           return warn("on: hardware counters are closed and host copies are encrypted",
                       "Switch it off on the host to read counters.");
         });
    look("compute_mode", "Compute mode", gpu.compute_mode(), [](NvmlComputeMode mode) {
      if (mode == NvmlComputeMode::prohibited)
        return Judgement{CheckStatus::fail, "prohibited: no program may use the GPU",
                         "Set it back (nvidia-smi -c DEFAULT, as root)."};
      return ok(mode == NvmlComputeMode::exclusive_process ||
                        mode == NvmlComputeMode::exclusive_thread
                    ? "exclusive: one process at a time"
                    : "default: processes may share the GPU");
    });
  }

  void clocks_and_power() {
    const auto mem_max = gpu.clock_max_hz(NvmlClock::memory);
    auto sm_max = gpu.clock_max_hz(NvmlClock::sm);
    if (sm_max && !mem_max) sm_max = mem_max;
    look("clocks", "Clocks", sm_max, [&](double most) {
      const std::string detail = fmt::format(
          "SM {} of {:.0f} MHz, memory {} of {:.0f} MHz", mhz(gpu.clock_hz(NvmlClock::sm)),
          most / megahertz, mhz(gpu.clock_hz(NvmlClock::memory)), *mem_max / megahertz);
      const auto set = gpu.application_clock_hz(NvmlClock::sm);
      const auto normal = gpu.default_application_clock_hz(NvmlClock::sm);
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
      return warn(
          fmt::format("clocks are held down before the measurement starts: {}",
                      fmt::join(reasons, ", ")),
          "See to cooling and power supply, and wait until other work on the GPU has ended.");
    });
    look("temperature", "Temperature", gpu.temperature_c(), [&](double now) {
      constexpr double margin = 10;
      const auto slowdown = gpu.slowdown_temperature_c();
      if (!slowdown || now <= *slowdown - margin) return ok(fmt::format("{:.0f} °C", now));
      return warn(fmt::format("{:.0f} °C; clocks fall at {:.0f} °C", now, *slowdown),
                  "Let the GPU cool down and see to its cooling.");
    });
  }

  void use() {
    look("persistence", "Persistence mode", gpu.persistence(), [](bool on) {
      if (on) return ok("on");
      return Judgement{CheckStatus::ok,
                       "off: the driver unloads between programs, and each start takes longer",
                       "Switch it on (nvidia-smi -pm 1, as root) if starts are slow."};
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
      const std::string detail =
          fmt::format("generation {} of {}, width x{} of x{}", link.generation, link.generation_max,
                      link.width, link.width_max);
      if (link.width >= link.width_max) return ok(detail);
      return warn(detail + ": fewer lanes than the GPU has",
                  "Check the slot and the seating of the GPU; copies to and from it are slower.");
    });
  }
};

}  // namespace

std::vector<Check> check_gpu(int ordinal, const NvmlLibrary& nvml, const Reading<NvmlDevice>& gpu) {
  if (!gpu) {
    const bool lost =
        gpu.status == NvmlStatus::gpu_is_lost || gpu.status == NvmlStatus::reset_required;
    return {
        {"nvml_device", lost ? CheckStatus::fail : CheckStatus::warn, ordinal, "NVML",
         fmt::format("cannot read this GPU: {}", nvml.available() ? gpu.missing() : nvml.problem()),
         lost ? "Look for Xid lines in the kernel log (dmesg) and restart the machine."
              : "Results come without clocks, power and throttle reasons until NVML works."}};
  }
  GpuChecks looked{ordinal, *gpu};
  looked.memory_health();
  looked.modes(nvml);
  looked.clocks_and_power();
  looked.use();
  return looked.checks;
}

}  // namespace fathom
