#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "fleet/fleet.h"

namespace fathom::fleet {
namespace {

using Names = std::map<std::string, std::string>;

/// A machine was seen: whether without a date, the date, the GPU's number, the machine, the hash of
/// the GPU's UUID. Machines are numbered in this order: first measured, so that one that joins
/// later changes no name, then lowest GPU number, then id.
using Sight = std::tuple<bool, std::string, int, std::string, std::string>;

/// The name of each machine of a host's name. `taken`: names of hosts.
Names names_of(const std::string& host, const std::set<Sight>& sights,
               std::set<std::string>& taken) {
  Names one_as;  // the machine under which it is known, by machine
  Names had_by;  // by GPU
  for (const auto& [undated, date, number, machine, gpu] : sights) {
    const std::string own = one_as.try_emplace(machine, machine).first->second;
    if (gpu.empty()) continue;
    const std::string before = one_as.at(had_by.try_emplace(gpu, machine).first->second);
    for (auto& [other, one] : one_as)
      if (one == own) one = before;
  }
  Names names;  // by the machine under which it is known
  for (const auto& [undated, date, number, machine, gpu] : sights) {
    const auto [at, is_new] = names.try_emplace(one_as.at(machine), host);
    const bool first = names.size() == 1;
    for (int i = 2; is_new && !first && !taken.insert(at->second).second; ++i)
      at->second = fmt::format("{}-{}", host, i);
  }
  for (auto& [machine, one] : one_as) one = names.at(one);
  return one_as;
}

}  // namespace

void tell_machines_apart(Fleet& fleet) {
  std::map<std::string, std::set<Sight>> hosts;
  std::set<std::string> taken;
  for (const FleetGpu& gpu : fleet.gpus) {
    const GpuSummary& s = gpu.summary;
    taken.insert(s.host);
    if (!s.machine.empty())
      hosts[s.host].emplace(s.date.empty(), s.date, s.gpu, s.machine, s.uuid_hash);
  }
  for (const HostLinks& links : fleet.links) {
    taken.insert(links.host);
    if (!links.machine.empty())
      hosts[links.host].emplace(true, "", std::numeric_limits<int>::max(), links.machine, "");
  }
  std::map<std::string, Names> names;
  for (const auto& [host, sights] : hosts) {
    std::set<std::string> distinct;
    for (const auto& [machine, name] : names[host] = names_of(host, sights, taken))
      distinct.insert(name);
    if (distinct.size() > 1)
      fleet.problems.push_back({"host " + host,
                                fmt::format("{} machines have this name: they are told apart as {}",
                                            distinct.size(), fmt::join(distinct, ", ")),
                                0});
  }
  const auto rename = [&](std::string& host, const std::string& machine) {
    if (!machine.empty()) host = names.at(host).at(machine);
  };
  for (FleetGpu& gpu : fleet.gpus) rename(gpu.summary.host, gpu.summary.machine);
  for (HostLinks& links : fleet.links) rename(links.host, links.machine);
}

}  // namespace fathom::fleet
