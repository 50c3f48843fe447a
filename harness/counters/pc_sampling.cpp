#include "harness/counters/pc_sampling.h"

#include <cuda_runtime.h>

#include <cstdlib>
#include <mutex>
#include <string_view>
#include <tuple>

#include "harness/counters/cupti_library.h"
#include "harness/cuda_check.h"

namespace fathom {
namespace {

// Enough for the instructions of every kernel that one launch starts.
constexpr std::size_t max_instructions = 20000;
constexpr std::uint32_t log2_period = 11;  // in cycles of an SM; CUPTI takes 5 to 31
// How often CUPTI's thread empties the hardware's buffer.
constexpr std::uint32_t worker_period_ms = 5;

/// Machine code by the check sum that CUPTI's samples name it by.
struct Modules {
  std::mutex mutex;
  bool watched = false;
  std::map<std::uint64_t, std::vector<char>> cubins;
};

Modules& modules() {
  static Modules all;
  return all;
}

// CUPTI calls this as it loads a module, which is the one moment at which it shows the code.
void CUPTIAPI keep_cubin(const void* cubin, std::size_t bytes, std::uint64_t* crc) {
  FATHOM_SAMPLING_PARAMS(CUpti_GetCubinCrcParams, params, .cubinSize = bytes, .cubin = cubin);
  if (cupti_library().cuptiGetCubinCrc(&params) != CUPTI_SUCCESS) return;
  *crc = params.cubinCrc;
  const auto* const begin = static_cast<const char*>(cubin);
  const std::scoped_lock lock(modules().mutex);
  modules().cubins.try_emplace(params.cubinCrc, begin, begin + bytes);
}

/// "smsp__pcsamp_warps_issue_stalled_long_scoreboard" -> "long_scoreboard".
std::string short_reason(std::string_view name) {
  constexpr std::string_view marker = "issue_stalled_";
  const std::size_t at = name.find(marker);
  return std::string(at == std::string_view::npos ? name : name.substr(at + marker.size()));
}

/// The source line of an instruction in a module that was kept.
std::optional<SourceLine> line_of(const PcSample& sample, std::uint64_t crc) {
  const std::scoped_lock lock(modules().mutex);
  const auto cubin = modules().cubins.find(crc);
  if (cubin == modules().cubins.end()) return std::nullopt;
  return source_line(cubin->second, sample.function, sample.pc_offset);
}

/// By function, offset, and check sum of the machine code.
using ByInstruction = std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, PcSample>;

/// Room for CUPTI's samples.
struct PcBuffer {
  std::vector<std::vector<CUpti_PCSamplingStallReason>> stalls;
  std::vector<CUpti_PCSamplingPCData> instructions;
  CUpti_PCSamplingData data{};

  void reserve(std::size_t reasons) {
    stalls.assign(max_instructions, std::vector<CUpti_PCSamplingStallReason>(reasons));
    instructions.assign(max_instructions, {});
    for (std::size_t i = 0; i < max_instructions; ++i) {
      instructions[i].size = sizeof(CUpti_PCSamplingPCData);
      instructions[i].stallReason = stalls[i].data();
    }
    data = {};
    data.size = sizeof(CUpti_PCSamplingData);
    data.collectNumPcs = max_instructions;
    data.pPcData = instructions.data();
  }
};

}  // namespace

struct PcSampler::State {
  CUcontext context = nullptr;
  bool enabled = false;
  std::map<std::uint32_t, std::string> reasons;  ///< by CUPTI's index

  PcBuffer configured;  ///< CUPTI keeps it and may write into it at any time until it is disabled
  PcBuffer fetched;

  void read_reasons() {
    std::size_t count = 0;
    FATHOM_SAMPLING_PARAMS(CUpti_PCSamplingGetNumStallReasonsParams, number, .ctx = context,
                           .numStallReasons = &count);
    FATHOM_CUPTI(cuptiPCSamplingGetNumStallReasons, number);

    std::vector<std::uint32_t> indices(count);
    std::vector<std::string> names(count, std::string(CUPTI_STALL_REASON_STRING_SIZE, '\0'));
    std::vector<char*> pointers;
    for (std::string& name : names) pointers.push_back(name.data());
    FATHOM_SAMPLING_PARAMS(CUpti_PCSamplingGetStallReasonsParams, params, .ctx = context,
                           .numStallReasons = count, .stallReasonIndex = indices.data(),
                           .stallReasons = pointers.data());
    FATHOM_CUPTI(cuptiPCSamplingGetStallReasons, params);
    for (std::size_t i = 0; i < count; ++i) reasons[indices[i]] = short_reason(pointers[i]);
  }

  void configure() {
    std::vector<CUpti_PCSamplingConfigurationInfo> infos;
    const auto add = [&](CUpti_PCSamplingConfigurationAttributeType type) -> auto& {
      infos.emplace_back().attributeType = type;
      return infos.back();
    };
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
        .attributeData.samplingPeriodData.samplingPeriod = log2_period;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
        .attributeData.collectionModeData.collectionMode =
        CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL)
        .attributeData.enableStartStopControlData.enableStartStopControl = 1;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT)
        .attributeData.outputDataFormatData.outputDataFormat =
        CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN)
        .attributeData.workerThreadPeriodicSleepSpanData.workerThreadPeriodicSleepSpan =
        worker_period_ms;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
        .attributeData.samplingDataBufferData.samplingDataBuffer = &configured.data;

    FATHOM_SAMPLING_PARAMS(CUpti_PCSamplingConfigurationInfoParams, params, .ctx = context,
                           .numAttributes = infos.size(),
                           .pPCSamplingConfigurationInfo = infos.data());
    FATHOM_CUPTI(cuptiPCSamplingSetConfigurationAttribute, params);
  }

  CUptiResult stop() {
    FATHOM_SAMPLING_PARAMS(CUpti_PCSamplingStopParams, params, .ctx = context);
    return cupti_library().cuptiPCSamplingStop(&params);
  }

  /// Moves what is in the buffer to `found`, summed by instruction.
  void drain(PcBuffer& buffer, ByInstruction& found) {
    for (std::size_t i = 0; i < buffer.data.totalNumPcs; ++i) {
      CUpti_PCSamplingPCData& pc = buffer.instructions[i];
      const std::string function = pc.functionName == nullptr ? "" : pc.functionName;
      // Copies, since a reference cannot bind to a field of CUPTI's packed structure.
      const std::uint64_t offset = pc.pcOffset, crc = pc.cubinCrc;
      PcSample& sample = found[{function, offset, crc}];
      sample.function = function;
      sample.pc_offset = offset;
      for (std::size_t k = 0; k < pc.stallReasonCount; ++k) {
        const CUpti_PCSamplingStallReason& stall = pc.stallReason[k];
        const std::string& reason = reasons[stall.pcSamplingStallReasonIndex];
        // Those with this ending are a part of the ones without: nothing was issued meanwhile.
        if (stall.samples == 0 || reason.ends_with("_not_issued")) continue;
        sample.by_reason[reason] += stall.samples;
      }
    }
    buffer.data.totalNumPcs = 0;
  }

  ~State() {
    if (!enabled) return;
    FATHOM_SAMPLING_PARAMS(CUpti_PCSamplingDisableParams, params, .ctx = context);
    cupti_library().cuptiPCSamplingDisable(&params);
  }
};

std::optional<SourceLine> source_line(const std::vector<char>& code, const std::string& function,
                                      std::uint64_t offset) {
  FATHOM_SAMPLING_PARAMS(CUpti_GetSassToSourceCorrelationParams, params, .cubin = code.data(),
                         .functionName = function.c_str(), .cubinSize = code.size(),
                         .pcOffset = offset);
  if (cupti_library().cuptiGetSassToSourceCorrelation(&params) != CUPTI_SUCCESS) return {};
  std::optional<SourceLine> line;
  if (params.fileName != nullptr && params.lineNumber != 0) {
    const std::filesystem::path folder = params.dirName == nullptr ? "" : params.dirName;
    line = {(folder / params.fileName).lexically_normal().string(), params.lineNumber};
  }
  std::free(params.fileName);
  std::free(params.dirName);
  return line;
}

void PcSampler::watch_modules() {
  const std::scoped_lock lock(modules().mutex);
  if (modules().watched) return;
  FATHOM_CUPTI(cuptiRegisterComputeCrcCallback, keep_cubin);
  modules().watched = true;
}

PcSampler::PcSampler(int device) : state_(std::make_unique<State>()) {
  initialise_profilers(device);
  watch_modules();
  State& s = *state_;
  s.context = current_context();
  FATHOM_SAMPLING_PARAMS(CUpti_PCSamplingEnableParams, params, .ctx = s.context);
  FATHOM_CUPTI(cuptiPCSamplingEnable, params);
  s.enabled = true;
  s.read_reasons();
  s.configured.reserve(s.reasons.size());
  s.fetched.reserve(s.reasons.size());
  s.configure();
}

PcSampler::~PcSampler() = default;

void PcSampler::begin() {
  FATHOM_CUDA(cudaDeviceSynchronize());
  FATHOM_SAMPLING_PARAMS(CUpti_PCSamplingStartParams, params, .ctx = state_->context);
  FATHOM_CUPTI(cuptiPCSamplingStart, params);
}

PcProfile PcSampler::collect(const std::function<void()>& launch) {
  begin();
  try {
    launch();
    FATHOM_CUDA(cudaGetLastError());
    FATHOM_CUDA(cudaDeviceSynchronize());
  } catch (...) {
    state_->stop();
    throw;
  }
  return end();
}

PcProfile PcSampler::end() {
  State& s = *state_;
  FATHOM_CUDA(cudaDeviceSynchronize());
  check_cupti(s.stop(), "cuptiPCSamplingStop");

  PcProfile profile;
  ByInstruction found;
  do {
    FATHOM_SAMPLING_PARAMS(CUpti_PCSamplingGetDataParams, params, .ctx = s.context,
                           .pcSamplingData = &s.fetched.data);
    FATHOM_CUPTI(cuptiPCSamplingGetData, params);
    s.drain(s.fetched, found);
  } while (s.fetched.data.remainingNumPcs > 0);
  s.drain(s.configured, found);

  bool all_located = true;
  for (auto& [key, sample] : found) {
    sample.source = line_of(sample, std::get<2>(key));
    all_located = all_located && sample.source;
    profile.samples.push_back(std::move(sample));
  }
  if (!all_located) {
    profile.line_reason =
        "some kernels were compiled without -lineinfo, or loaded before PcSampler::watch_modules";
  }
  return profile;
}

}  // namespace fathom
