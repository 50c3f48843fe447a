#include "harness/gpu_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace fathom {
namespace {

constexpr double megahertz = 1e6;
constexpr double mebibyte = 1 << 20;

/// Other programs' memory below this does not disturb a measurement: it is a driver's own.
constexpr double unremarkable_mebibytes = 512;

class GpuChecks {
 public:
  GpuChecks(int ordinal, const NvmlDevice& gpu, bool own_context)
      : ordinal_(ordinal), gpu_(gpu), own_context_(own_context) {}

  std::vector<Check> take() { return std::move(checks_); }

  void ecc() {
    const char* what = "ECC";
    const auto mode = gpu_.ecc();
    if (!mode) return skip("ecc", what, mode.missing());
    if (mode->current != mode->pending)
      return add("ecc", CheckStatus::warn, what,
                 fmt::format("{}, but {} after the next reset", on_off(mode->current),
                             on_off(mode->pending)),
                 "Restart the machine before measuring, so that results stay comparable.");
    add("ecc", CheckStatus::ok, what, on_off(mode->current));
  }

  void memory_errors() {
    const char* what = "Memory errors";
    const auto errors = gpu_.uncorrected_ecc_errors();
    const auto rows = gpu_.remapped_rows();
    if (!errors && !rows) return skip("memory_errors", what, errors.missing());
    const NvmlRemappedRows remapped = rows.value_or({});
    const std::string detail =
        fmt::format("{} uncorrected since the driver was loaded, {} rows remapped{}",
                    errors.value_or(0), remapped.corrected + remapped.uncorrected,
                    remapped.pending ? ", more wait for a reset" : "");
    if (remapped.failed)
      return add("memory_errors", CheckStatus::fail, what, "A row could not be remapped; " + detail,
                 "Have the GPU replaced: its memory is damaged.");
    if (remapped.pending || errors.value_or(0) > 0)
      return add("memory_errors", CheckStatus::warn, what, detail,
                 "Reset the GPU (nvidia-smi --gpu-reset) or restart the machine; if errors come "
                 "back, have the GPU replaced.");
    add("memory_errors", CheckStatus::ok, what, detail);
  }

  void mig() {
    const char* what = "MIG";
    const auto mode = gpu_.mig();
    if (!mode) return skip("mig", what, mode.missing());
    if (mode->current)
      return add("mig", CheckStatus::warn, what,
                 "on: only a part of the GPU is measured, and bounds are those of the whole",
                 "Switch MIG off (nvidia-smi -mig 0, as root) to measure the whole GPU.");
    add("mig", CheckStatus::ok, what, "off");
  }

  void virtualization() {
    const char* what = "Virtualisation";
    const auto mode = gpu_.virtualization();
    if (!mode) return skip("virtualization", what, mode.missing());
    if (*mode == NvmlVirtualization::vgpu)
      return add("virtualization", CheckStatus::warn, what,
                 "a vGPU: others may share the GPU, and counters need the host's consent",
                 "Ask for a whole GPU (passthrough) to measure the hardware itself.");
    add("virtualization", CheckStatus::ok, what,
        *mode == NvmlVirtualization::none          ? "none"
        : *mode == NvmlVirtualization::passthrough ? "a whole GPU passed through to this machine"
                                                   : "this machine is a vGPU host");
  }

  void confidential_computing(const Reading<bool>& on) {
    const char* what = "Confidential computing";
    if (!on) return skip("confidential_computing", what, on.missing());
    if (*on)
      return add("confidential_computing", CheckStatus::warn, what,
                 "on: hardware counters are closed and host copies are encrypted",
                 "Switch it off on the host to read counters.");
    add("confidential_computing", CheckStatus::ok, what, "off");
  }

  void clocks() {
    const char* what = "Clocks";
    const auto sm = gpu_.clock_hz(NvmlClock::sm), sm_max = gpu_.clock_max_hz(NvmlClock::sm);
    const auto mem = gpu_.clock_hz(NvmlClock::memory);
    const auto mem_max = gpu_.clock_max_hz(NvmlClock::memory);
    if (!sm_max || !mem_max) return skip("clocks", what, sm_max.missing() + mem_max.missing());
    const std::string detail = fmt::format("SM {} of {:.0f} MHz, memory {} of {:.0f} MHz", mhz(sm),
                                           *sm_max / megahertz, mhz(mem), *mem_max / megahertz);
    const auto set = gpu_.application_clock_hz(NvmlClock::sm);
    const auto normal = gpu_.default_application_clock_hz(NvmlClock::sm);
    if (set && normal && *set < *normal)
      return add(
          "clocks", CheckStatus::warn, what,
          fmt::format("{}; the application clock is set to {} MHz, below its default of {} MHz",
                      detail, mhz(set), mhz(normal)),
          "Set it back (nvidia-smi -rac, and -rgc for locked clocks).");
    add("clocks", CheckStatus::ok, what, detail);
  }

  void power_limit() {
    const char* what = "Power limit";
    const auto limit = gpu_.power_limit_w(), normal = gpu_.default_power_limit_w();
    if (!limit) return skip("power_limit", what, limit.missing());
    // NVML rounds to milliwatts: half a watt less is no setting of a user.
    if (normal && *limit < *normal - 0.5)
      return add("power_limit", CheckStatus::warn, what,
                 fmt::format("{:.0f} W, below the default of {:.0f} W", *limit, *normal),
                 fmt::format("Set it back (nvidia-smi -pl {:.0f}, as root), or compare only with "
                             "runs at this limit.",
                             *normal));
    add("power_limit", CheckStatus::ok, what, fmt::format("{:.0f} W", *limit));
  }

  void throttling() {
    const char* what = "Throttling";
    const auto bits = gpu_.clock_event_reasons();
    if (!bits) return skip("throttling", what, bits.missing());
    std::vector<std::string> reasons = throttle_reason_names(*bits);
    // Set whenever clocks follow the application clock, at its default too: see `clocks`.
    std::erase(reasons, "applications_clocks_setting");
    if (reasons.empty()) return add("throttling", CheckStatus::ok, what, "none");
    add("throttling", CheckStatus::warn, what,
        fmt::format("clocks are held down before the measurement starts: {}",
                    fmt::join(reasons, ", ")),
        "See to cooling and power supply, and wait until other work on the GPU has ended.");
  }

  void temperature() {
    const char* what = "Temperature";
    const auto now = gpu_.temperature_c(), slowdown = gpu_.slowdown_temperature_c();
    if (!now) return skip("temperature", what, now.missing());
    constexpr double margin = 10;
    if (slowdown && *now > *slowdown - margin)
      return add("temperature", CheckStatus::warn, what,
                 fmt::format("{:.0f} °C; clocks fall at {:.0f} °C", *now, *slowdown),
                 "Let the GPU cool down and see to its cooling.");
    add("temperature", CheckStatus::ok, what, fmt::format("{:.0f} °C", *now));
  }

  void persistence() {
    const char* what = "Persistence mode";
    const auto on = gpu_.persistence();
    if (!on) return skip("persistence", what, on.missing());
    add("persistence", CheckStatus::ok, what,
        *on ? "on" : "off: the driver unloads between programs, and each start takes longer",
        *on ? "" : "Switch it on (nvidia-smi -pm 1, as root) if starts are slow.");
  }

  void compute_mode() {
    const char* what = "Compute mode";
    const auto mode = gpu_.compute_mode();
    if (!mode) return skip("compute_mode", what, mode.missing());
    switch (*mode) {
      case NvmlComputeMode::prohibited:
        return add("compute_mode", CheckStatus::fail, what,
                   "prohibited: no program may use the GPU",
                   "Set it back (nvidia-smi -c DEFAULT, as root).");
      case NvmlComputeMode::exclusive_process:
      case NvmlComputeMode::exclusive_thread:
        return add("compute_mode", CheckStatus::ok, what, "exclusive: one process at a time");
      case NvmlComputeMode::shared:
        break;
    }
    add("compute_mode", CheckStatus::ok, what, "default: processes may share the GPU");
  }

  void processes() {
    const char* what = "Other processes";
    const auto list = gpu_.compute_processes();
    if (!list) return skip("processes", what, list.missing());
    const std::vector<NvmlProcess> others = other_processes(*list, own_context_);
    if (others.empty()) return add("processes", CheckStatus::ok, what, "none visible");
    std::vector<std::string> names;
    for (const NvmlProcess& process : others) names.push_back(describe(process));
    add("processes", CheckStatus::warn, what, fmt::format("{}", fmt::join(names, ", ")),
        "End them, or wait: they share the GPU's time, power and memory.");
  }

  void memory() {
    const char* what = "GPU memory";
    const auto memory = gpu_.memory();
    if (!memory) return skip("memory", what, memory.missing());
    const double used = static_cast<double>(memory->used) / mebibyte;
    const std::string detail =
        fmt::format("{:.0f} of {:.0f} MiB are free", static_cast<double>(memory->free) / mebibyte,
                    static_cast<double>(memory->total) / mebibyte);
    if (!own_context_ && used > unremarkable_mebibytes)
      return add("memory", CheckStatus::warn, what,
                 fmt::format("{}; other programs use {:.0f} MiB", detail, used),
                 "End the programs that use it (nvidia-smi lists those of this container only).");
    add("memory", CheckStatus::ok, what, detail);
  }

  void pcie_link() {
    const char* what = "PCIe link";
    const auto link = gpu_.pcie_link();
    if (!link) return skip("pcie_link", what, link.missing());
    const std::string detail =
        fmt::format("generation {} of {}, width x{} of x{}", link->generation, link->generation_max,
                    link->width, link->width_max);
    if (link->width < link->width_max)
      return add("pcie_link", CheckStatus::warn, what, detail + ": fewer lanes than the GPU has",
                 "Check the slot and the seating of the GPU; copies to and from it are slower.");
    add("pcie_link", CheckStatus::ok, what, detail);
  }

 private:
  void add(const char* id, CheckStatus status, const char* what, std::string detail,
           std::string what_to_do = {}) {
    checks_.push_back({id, status, ordinal_, what, std::move(detail), std::move(what_to_do)});
  }
  void skip(const char* id, const char* what, const std::string& reason) {
    add(id, CheckStatus::skip, what, "unknown: " + reason);
  }

  static std::string on_off(bool on) { return on ? "on" : "off"; }
  static std::string mhz(const Reading<double>& hertz) {
    return hertz ? fmt::format("{:.0f}", *hertz / megahertz) : "?";
  }
  static std::string describe(const NvmlProcess& process) {
    std::string name;
    std::ifstream file(fmt::format("/proc/{}/comm", process.pid));
    std::getline(file, name);
    const std::string memory =
        process.used_bytes
            ? fmt::format(", {:.0f} MiB", static_cast<double>(*process.used_bytes) / mebibyte)
            : "";
    return fmt::format("process {}{}{}", process.pid, name.empty() ? "" : " (" + name + ")",
                       memory);
  }

  int ordinal_;
  const NvmlDevice& gpu_;
  bool own_context_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> check_gpu(int ordinal, const NvmlLibrary& nvml, const Reading<NvmlDevice>& gpu,
                             bool own_context) {
  if (!gpu) {
    const bool lost =
        gpu.status == NvmlStatus::gpu_is_lost || gpu.status == NvmlStatus::reset_required;
    return {
        {"nvml_device", lost ? CheckStatus::fail : CheckStatus::warn, ordinal, "NVML",
         fmt::format("cannot read this GPU: {}", nvml.available() ? gpu.missing() : nvml.problem()),
         lost ? "Look for Xid lines in the kernel log (dmesg) and restart the machine."
              : "Results come without clocks, power and throttle reasons until NVML works."}};
  }
  GpuChecks checks(ordinal, *gpu, own_context);
  checks.ecc();
  checks.memory_errors();
  checks.mig();
  checks.virtualization();
  checks.confidential_computing(nvml.confidential_computing());
  checks.compute_mode();
  checks.clocks();
  checks.power_limit();
  checks.throttling();
  checks.temperature();
  checks.persistence();
  checks.processes();
  checks.memory();
  checks.pcie_link();
  return checks.take();
}

}  // namespace fathom
