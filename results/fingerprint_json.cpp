#include "results/fingerprint_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "results/json_values.h"

namespace fathom {
nlohmann::ordered_json fingerprint_to_json(const Fingerprint& f) {
  return {{"gpu_name", f.gpu_name},
          {"gpu_uuid_hash", f.gpu_uuid_hash},
          {"compute_capability", f.compute_capability},
          {"vbios", f.vbios},
          {"driver", f.driver},
          {"cuda_driver", f.cuda_driver},
          {"cuda_runtime", f.cuda_runtime},
          {"toolkit", f.toolkit},
          {"sms", or_null(f.sms)},
          {"memory_bytes", or_null(f.memory_bytes)},
          {"l2_bytes", or_null(f.l2_bytes)},
          {"memory_bus_bits", or_null(f.memory_bus_bits)},
          {"sm_clock_max_hz", or_null(f.sm_clock_max_hz)},
          {"memory_clock_max_hz", or_null(f.memory_clock_max_hz)},
          {"power_limit_w", or_null(f.power_limit_w)},
          {"ecc", f.ecc},
          {"mig", f.mig},
          {"persistence", f.persistence},
          {"pcie_link", f.pcie_link},
          {"virtualization", f.virtualization},
          {"compute_mode", f.compute_mode},
          {"confidential_computing", f.confidential_computing}};
}

Fingerprint fingerprint_from_json(const nlohmann::json& json) {
  Fingerprint f;
  f.gpu_name = text(json, "gpu_name");
  f.gpu_uuid_hash = text(json, "gpu_uuid_hash");
  f.compute_capability = text(json, "compute_capability");
  f.vbios = text(json, "vbios");
  f.driver = text(json, "driver");
  f.cuda_driver = text(json, "cuda_driver");
  f.cuda_runtime = text(json, "cuda_runtime");
  f.toolkit = text(json, "toolkit");
  f.sms = optional<std::int64_t>(json, "sms");
  f.memory_bytes = optional<std::int64_t>(json, "memory_bytes");
  f.l2_bytes = optional<std::int64_t>(json, "l2_bytes");
  f.memory_bus_bits = optional<std::int64_t>(json, "memory_bus_bits");
  f.sm_clock_max_hz = optional<double>(json, "sm_clock_max_hz");
  f.memory_clock_max_hz = optional<double>(json, "memory_clock_max_hz");
  f.power_limit_w = optional<double>(json, "power_limit_w");
  f.ecc = text(json, "ecc");
  f.mig = text(json, "mig");
  f.persistence = text(json, "persistence");
  f.pcie_link = text(json, "pcie_link");
  f.virtualization = text(json, "virtualization");
  f.compute_mode = text(json, "compute_mode");
  f.confidential_computing = text(json, "confidential_computing");
  return f;
}

}  // namespace fathom
