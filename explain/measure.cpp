#include <cuda_runtime.h>
#include <cupti_driver_cbid.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "explain/explain.h"
#include "explain/injected.h"
#include "harness/counters/cupti_library.h"
#include "harness/counters/pc_sampling.h"
#include "harness/counters/range_profiler.h"
#include "harness/cuda_check.h"

// Loaded into a further run of the program by CUDA_INJECTION64_PATH: it measures with CUPTI the
// launches that inject.cpp recorded, and writes what it found into FOLDER/PID.trace. It never
// prints and never ends the program. Settings: FATHOM_EXPLAIN_FOLDER, _KERNEL, _LAUNCHES, and
// _MEASURE: "counters" or "stalls", which exclude each other.

namespace fathom::explain {
namespace {

const std::vector<std::string> roles{"global_load_sectors",
                                     "global_store_sectors",
                                     "shared_load_wavefronts",
                                     "shared_store_wavefronts",
                                     "shared_load_conflicts",
                                     "shared_store_conflicts",
                                     "l2_read_sectors",
                                     "l2_write_sectors",
                                     "dram_read_bytes",
                                     "dram_write_bytes",
                                     "gpu_time"};

constexpr CUpti_CallbackId launch_calls[] = FATHOM_LAUNCH_CALLS(CUPTI_DRIVER_TRACE_CBID_);

class Measurer {
 public:
  void subscribe() {
    if (stalls_) PcSampler::watch_modules();  // before the program loads one
    const CuptiLibrary& cupti = cupti_library();
    CUpti_SubscriberHandle subscriber = nullptr;
    check_cupti(cupti.cuptiSubscribe(&subscriber, on_call, this), "cuptiSubscribe");
    for (const CUpti_CallbackId id : launch_calls)
      check_cupti(cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id),
                  "cuptiEnableCallback");
  }

  /// Nothing is measured from now on.
  void stop(const std::string& sentence) {
    if (!std::exchange(stopped_, true)) file_.note(sentence);
  }

 private:
  static void CUPTIAPI on_call(void* measurer, CUpti_CallbackDomain, CUpti_CallbackId id,
                               const void* data) {
    thread_local bool ours = false;  // a call of this library
    if (ours) return;
    ours = true;
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    Measurer& self = *static_cast<Measurer*>(measurer);
    const std::scoped_lock lock(self.mutex_);
    try {
      if (call.callbackSite == CUPTI_API_ENTER)
        self.enter(launch_of(launch_calls, id, call.functionParams));
      else
        self.leave();
    } catch (const std::exception& error) {
      self.stop(error.what());
    }
    ours = false;
  }

  void enter(const LaunchCall& launch) {
    if (stopped_ || !function_.empty() || is_capturing(launch.stream)) return;
    std::string function = name_of(launch.function);
    if (!wanted_.has(function) || measured_[function] >= wanted_.launches) return;
    int device = 0;
    FATHOM_CUDA(cudaGetDevice(&device));
    if (counters_ == nullptr && sampler_ == nullptr) start(device);
    if (device != device_) return;  // the profiler serves one
    if (stalls_)
      sampler_->begin();
    else
      counters_->begin_kernel();
    ++measured_[function];
    function_ = std::move(function);
    thread_ = std::this_thread::get_id();
  }

  void start(int device) {
    device_ = device;
    cudaDeviceProp properties{};
    FATHOM_CUDA(cudaGetDeviceProperties(&properties, device));
    file_.add(RecordKind::gpu, {properties.name});
    if (stalls_)
      sampler_ = std::make_unique<PcSampler>(device);
    else
      counters_ = std::make_unique<CounterSession>(device, roles);
  }

  void leave() {
    if (function_.empty() || thread_ != std::this_thread::get_id()) return;
    const std::string function = std::exchange(function_, {});
    if (stalls_) {
      for (const PcSample& sample : sampler_->end().samples) add(RecordKind::sampled, sample);
      return;
    }
    Counts counts;
    for (const auto& [role, reading] : counters_->end_kernel())
      if (reading.value) counts[role] = *reading.value;
    add(RecordKind::counted, std::map<std::string, Counts>{{function, counts}});
  }

  void add(RecordKind kind, const auto& value) {
    using Json = nlohmann::ordered_json;
    const Json json = write_fields(value);
    file_.add(kind, {json.dump(-1, ' ', false, Json::error_handler_t::replace)});
  }

  const bool stalls_ = setting("MEASURE") == "stalls";
  const Wanted wanted_;

  std::mutex mutex_;
  TraceFile file_;
  std::map<std::string, std::uint64_t> measured_;  ///< launches by function
  std::unique_ptr<CounterSession> counters_;
  std::unique_ptr<PcSampler> sampler_;
  int device_ = 0;
  std::string function_;    ///< whose launch is measured now; empty: none is
  std::thread::id thread_;  ///< that launched it
  bool stopped_ = false;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static Measurer& measurer = *new Measurer;  // CUPTI calls back while static objects go
  try {
    measurer.subscribe();
  } catch (const std::exception& error) {
    measurer.stop(error.what());
  }
  return 1;
}

}  // namespace fathom::explain
