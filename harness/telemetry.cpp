#include "harness/telemetry.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "harness/nvml_library.h"
#include "results/statistics.h"

namespace fathom {
namespace {

constexpr auto sampling_period = std::chrono::milliseconds(10);
/// The list of processes takes NVML longer than a clock, and others come and go slowly.
constexpr auto process_period = std::chrono::milliseconds(100);

enum Channel { sm_clock, memory_clock, power, temperature, channel_count };

/// One look at the GPU: each channel that answered, and why one did not.
struct Round {
  std::array<Reading<double>, channel_count> channels;
  Reading<std::uint64_t> reasons;
};

Round read_round(const NvmlDevice& device) {
  return {{device.clock_hz(NvmlClock::sm), device.clock_hz(NvmlClock::memory), device.power_w(),
           device.temperature_c()},
          device.clock_event_reasons()};
}

/// What a window collected.
struct Window {
  std::array<std::vector<double>, channel_count> values;
  std::uint64_t reasons = 0;
  std::optional<int> other_processes;  ///< the most seen
  NvmlStatus first_failure = NvmlStatus::success;

  void add(const Round& round) {
    for (int i = 0; i < channel_count; ++i)
      if (const auto& reading = round.channels[i])
        values[i].push_back(*reading);
      else if (first_failure == NvmlStatus::success)
        first_failure = reading.status;
    reasons |= round.reasons.value_or(0);
  }

  Range range(Channel channel) const {
    const std::vector<double>& v = values[channel];
    if (v.empty()) return {};
    const auto [least, most] = std::ranges::minmax(v);
    return {least, median(v), most};
  }

  Telemetry summary() const {
    Telemetry telemetry{range(sm_clock),
                        range(memory_clock),
                        range(power),
                        range(temperature),
                        throttle_reason_names(reasons),
                        "",
                        other_processes};
    if (std::ranges::all_of(values, [](const auto& v) { return v.empty(); }))
      telemetry.missing_reason = to_string(first_failure);
    return telemetry;
  }
};

}  // namespace

struct TelemetrySampler::State {
  explicit State(const std::string& bus_id) {
    const NvmlLibrary library;
    const Reading<NvmlDevice> found = library.device_by_pci_bus_id(bus_id);
    if (!found) {
      problem = found.missing();
      return;
    }
    device = *found;
    thread = std::jthread([this](std::stop_token stop) { sample_while_active(stop); });
  }
  void sample_while_active(const std::stop_token& stop) {
    std::unique_lock guard(mutex);
    while (wake.wait(guard, stop, [this] { return active; }) && !stop.stop_requested()) {
      const std::uint64_t number = window_number;
      const auto ended = [&] {
        return stop.stop_requested() || !active || window_number != number;
      };
      while (!wake.wait_for(guard, stop, sampling_period, ended)) {
        guard.unlock();  // NVML may take milliseconds, and stop() must not wait for that
        const Round round = read_round(*device);
        guard.lock();
        if (!ended()) window.add(round);
      }
    }
  }

  /// Called by the thread that measures: between windows, where nothing is timed.
  void count_processes() {
    const auto now = std::chrono::steady_clock::now();
    if (!counted_at || now - *counted_at >= process_period) {
      counted_at = now;
      const auto list = device->compute_processes();
      // This one is among them, whatever its number: in a container NVML numbers processes as the
      // host does. A list that hides some must not become less than none.
      processes.reset();
      if (list) processes = std::max(0, static_cast<int>(list->size()) - 1 - held_beside);
    }
    const std::lock_guard guard(mutex);
    window.other_processes = std::max(window.other_processes, processes);
  }

  std::optional<NvmlDevice> device;
  std::string problem;
  std::optional<std::chrono::steady_clock::time_point> counted_at;
  std::optional<int> processes;
  int held_beside = 0;
  std::mutex mutex;
  std::condition_variable_any wake;
  bool active = false;
  std::uint64_t window_number = 0;
  Window window;
  std::jthread thread;  ///< ends before anything that it uses
};

TelemetrySampler::TelemetrySampler(const std::string& pci_bus_id)
    : state_(std::make_unique<State>(pci_bus_id)) {}
TelemetrySampler::~TelemetrySampler() = default;

void TelemetrySampler::start() {
  if (!state_->device) return;
  {
    const std::lock_guard guard(state_->mutex);
    state_->window = {};
  }
  state_->count_processes();
  resume();
}

void TelemetrySampler::resume() {
  if (!state_->device) return;
  const Round round = read_round(*state_->device);
  {
    const std::lock_guard guard(state_->mutex);
    state_->window.add(round);
    state_->active = true;
    ++state_->window_number;
  }
  state_->wake.notify_all();
}

Telemetry TelemetrySampler::stop() {
  if (!state_->device) {
    Telemetry telemetry;
    telemetry.missing_reason = state_->problem;
    return telemetry;
  }
  const Round round = read_round(*state_->device);
  state_->count_processes();
  Window window;
  {
    const std::lock_guard guard(state_->mutex);
    state_->window.add(round);
    state_->active = false;
    window = state_->window;
  }
  state_->wake.notify_all();
  return window.summary();
}

void TelemetrySampler::set_held_beside(int processes) { state_->held_beside = processes; }

std::optional<double> TelemetrySampler::energy_j() const {
  if (!state_->device) return std::nullopt;
  return state_->device->energy_j().value;
}

}  // namespace fathom
