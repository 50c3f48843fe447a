#include "studies/gate/victim/faults.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "results/error.h"
#include "results/text.h"

namespace fathom::gate_victim {
namespace {

struct Kind {
  const char* option;
  const char* description;
  double lowest, highest;
  std::map<std::string, double> Faults::*list;
  bool Possible::*possible;  ///< null: every metric can have it
};

constexpr Kind kinds[] = {
    {"slow", "Work of a metric times a factor of 1 to 2: METRIC=1.03,...", 1, 2, &Faults::slow,
     nullptr},
    {"conflict", "Share of a metric's shared loads with 32 lanes in one bank: METRIC=0.01,...", 0,
     1, &Faults::conflict, &Possible::conflict},
    {"uncoalesced", "Share of a metric's tiles read a line a lane: METRIC=0.1,...", 0, 1,
     &Faults::uncoalesced, &Possible::uncoalesced},
    {"occupancy", "Share of the blocks that fit on an SM and no longer do: METRIC=0.5,...", 0, 1,
     &Faults::occupancy, &Possible::occupancy},
};

[[noreturn]] void refuse(const Kind& kind, std::string_view what, std::string_view why) {
  throw Error(ExitCode::bad_input, fmt::format("--{} {}: {}.", kind.option, what, why));
}

void read_item(const Kind& kind, std::string_view item,
               const std::map<std::string, Possible>& metrics, std::map<std::string, double>& to) {
  const auto equals = item.rfind('=');
  if (equals == std::string_view::npos) refuse(kind, item, "is not METRIC=NUMBER");
  const std::string metric(item.substr(0, equals));
  const std::string_view number = item.substr(equals + 1);
  const auto value = parse_number<double>(number);
  if (!value || !(*value >= kind.lowest && *value <= kind.highest))
    refuse(kind, item, fmt::format("wants a number from {} to {}", kind.lowest, kind.highest));
  const auto found = metrics.find(metric);
  if (found == metrics.end()) refuse(kind, item, "there is no such metric");
  if (kind.possible && !(found->second.*kind.possible))
    refuse(kind, item, "this metric cannot have that fault");
  if (!to.emplace(metric, *value).second) refuse(kind, item, "the metric is named twice");
}

}  // namespace

std::vector<ProbeOption> fault_options() {
  std::vector<ProbeOption> options;
  for (const Kind& kind : kinds)
    options.push_back(
        {.name = kind.option, .description = kind.description, .kind = ProbeOption::Kind::text});
  return options;
}

Faults faults_of(const OptionValues& values, const std::map<std::string, Possible>& metrics) {
  Faults faults;
  for (const Kind& kind : kinds) {
    const auto given = values.find(kind.option);
    if (given == values.end()) continue;
    std::string_view rest = std::get<std::string>(given->second);
    while (true) {
      const auto comma = rest.find(',');
      read_item(kind, rest.substr(0, comma), metrics, faults.*kind.list);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return faults;
}

int slowed(int work, const Faults& faults, const std::string& metric) {
  const auto found = faults.slow.find(metric);
  return found == faults.slow.end() ? work : static_cast<int>(std::lround(work * found->second));
}

double share_of(const std::map<std::string, double>& fault, const std::string& metric) {
  const auto found = fault.find(metric);
  return found == fault.end() ? 0 : found->second;
}

}  // namespace fathom::gate_victim
