#pragma once

#include <memory>
#include <optional>
#include <string>

#include "results/document.h"

namespace fathom {

/// Samples clocks, power, temperature and throttle reasons of one GPU through NVML in a thread of
/// its own (about every 10 ms) between `start` or `resume` and `stop`; at the ends of windows, and
/// not more often than every 100 ms, it counts the other processes that use the GPU. Without NVML
/// every channel is empty and `missing_reason` says why. One instance serves one program;
/// start/stop may be called many times, and a window shorter than the sampling period still holds
/// the readings of its two ends.
class TelemetrySampler {
 public:
  explicit TelemetrySampler(const std::string& pci_bus_id);  ///< as of cudaDeviceGetPCIBusId
  ~TelemetrySampler();

  /// Begins a window.
  void start();
  /// Ends it; everything read in it so far.
  Telemetry stop();
  /// Goes on with the window that `stop` ended: what happened in between is not in it.
  void resume();

  /// How many processes are known to use the GPU without disturbing anything, and are not counted:
  /// those that were started with this one and wait for their turn.
  void set_held_beside(int processes);

  /// Total energy since the driver loaded, in joules (the counter moves every 100 ms or so);
  /// empty where the GPU has no such counter.
  std::optional<double> energy_j() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom
