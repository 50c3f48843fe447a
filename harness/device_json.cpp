#include "harness/device_json.h"

#include <algorithm>

#include "results/document_io.h"
#include "results/json_values.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(CheckStatus status) {
  constexpr const char* names[] = {"ok", "warn", "fail", "skip"};
  return names[static_cast<int>(status)];
}

}  // namespace

Json to_json(const DeviceFacts& facts) {
  return {{"ordinal", facts.ordinal},
          {"name", facts.name},
          {"compute_capability", facts.fingerprint.compute_capability},
          {"sms", facts.sms},
          {"memory_bytes", facts.memory_bytes},
          {"l2_bytes", facts.l2_bytes},
          {"shared_bytes_per_sm", facts.shared_bytes_per_sm},
          {"shared_bytes_per_block_max", facts.shared_bytes_per_block_max},
          {"reserved_shared_bytes_per_block", facts.reserved_shared_bytes_per_block},
          {"registers_per_sm", facts.registers_per_sm},
          {"threads_per_sm", facts.threads_per_sm},
          {"blocks_per_sm", facts.blocks_per_sm},
          {"memory_bus_bits", facts.memory_bus_bits},
          {"sm_clock_max_hz", facts.sm_clock_max_hz},
          {"memory_clock_max_hz", facts.memory_clock_max_hz},
          {"mig", facts.mig},
          {"vgpu", facts.vgpu},
          {"fingerprint", to_json(facts.fingerprint)},
          {"bounds", to_json(facts.bounds)},
          {"warnings", facts.warnings}};
}

Json to_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks)
    list.push_back({{"id", check.id},
                    {"status", name_of(check.status)},
                    {"gpu", or_null(check.gpu)},
                    {"what", check.what},
                    {"detail", check.detail},
                    {"what_to_do", check.what_to_do}});
  const auto count = [&checks](CheckStatus status) {
    return std::count_if(checks.begin(), checks.end(),
                         [status](const Check& check) { return check.status == status; });
  };
  return {{"checks", std::move(list)},
          {"fail", count(CheckStatus::fail)},
          {"warn", count(CheckStatus::warn)}};
}

}  // namespace fathom
