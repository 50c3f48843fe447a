#pragma once

#include <cuda_runtime.h>

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/device_facts.h"
#include "harness/nvml_library.h"
#include "results/error.h"

namespace fathom {

/// Number of GPUs that CUDA can use, and the status if there is none (see `explain_no_gpu`).
struct CudaDeviceCount {
  int count = 0;
  cudaError_t status = cudaSuccess;
};
CudaDeviceCount count_cuda_devices();

/// What a failed CUDA call means to the user: the exit code of its cause, and what to do.
struct CudaFailure {
  ExitCode code;
  std::string cause;   ///< a main clause without its full stop, or "cudaErrorX (its text)"
  std::string remedy;  ///< imperative, without a full stop
};
CudaFailure explain_cuda_error(cudaError_t status);
/// Why CUDA found no GPU: no driver, driver too old, a lost GPU, ...
CudaFailure explain_no_gpu(cudaError_t status, const CudaVersions& versions,
                           const NvmlLibrary& nvml);

/// `skip`: could not be checked, or does not apply here.
enum class CheckStatus { ok, warn, fail, skip };

/// What came of looking.
struct Finding {
  CheckStatus status = CheckStatus::ok;
  std::string detail{};
  std::string what_to_do{};  ///< a sentence; empty where there is nothing to do
};

/// One thing that was looked at before measuring.
struct Check : Finding {
  std::string id;            ///< stable name, e.g. "pcie_link"
  std::string what;          ///< short title, e.g. "PCIe link"
  std::optional<int> gpu{};  ///< CUDA's ordinal; empty for a check of the whole machine
};

/// Checks driver, toolkit, NVML, GPUs (all, or one), each GPU's state, and whether its counters can
/// be read, in the order in which a user should mend them. Never throws for a fault that it can
/// describe.
std::vector<Check> run_doctor(std::optional<int> only);

/// Everything NVML knows about one GPU that can spoil or limit a measurement: ECC and memory
/// errors, MIG, virtualisation, clocks, power limit, throttling, other processes, memory in use,
/// PCIe link. This process itself must not have used the GPU: it would be one of the others.
std::vector<Check> check_gpu(int ordinal, const Reading<NvmlDevice>& gpu);

/// Driver, CUDA and toolkit, from what the runtime answered.
std::vector<Check> check_software(const CudaDeviceCount& devices, const CudaVersions& versions,
                                  const NvmlLibrary& nvml);

// As JSON, for the `fathom` command, which has no CUDA in it.

/// {"checks": [{id, status, gpu, what, detail, what_to_do}]}
nlohmann::ordered_json to_json(const std::vector<Check>& checks);

/// All GPUs that this process sees, without a context on any: [{ordinal, name, uuid, uuid_hash,
/// pci_bus_id, health{}}]. Throws Error as `read_cuda_device` does where there is none.
nlohmann::ordered_json gpus_json(const NvmlLibrary& nvml);

/// What may make a GPU slower than others of its kind, as the driver knows it; what it does not
/// tell is null.
nlohmann::ordered_json health_json(const Reading<NvmlDevice>& gpu);

/// "GPU-01234567-89ab-...": the text that CUDA_VISIBLE_DEVICES takes.
std::string uuid_text(const std::array<unsigned char, 16>& uuid);

}  // namespace fathom
