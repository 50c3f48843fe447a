#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "fleet/fleet.h"

namespace fathom::fleet {
namespace {

using Names = std::map<std::string, std::string>;  ///< by machine

/// The machines of one name.
class Namesakes {
 public:
  /// `date`: empty where it is not known.
  void add(const std::string& machine, const std::string& uuid_hash, const std::string& date,
           int gpu) {
    if (machine.empty()) return;
    one_as_.try_emplace(machine, machine);
    const Rank rank{date.empty(), date, gpu};
    const auto first_rank = ranks_.try_emplace(machine, rank).first;
    first_rank->second = std::min(first_rank->second, rank);
    if (uuid_hash.empty()) return;
    const auto [had_by, first] = had_.try_emplace(uuid_hash, machine);
    if (!first) join(one_as_.at(machine), one_as_.at(had_by->second));
  }

  /// In the order in which they were first measured, so that one that joins later changes no name;
  /// then of the lowest of their GPUs' numbers, then of their ids. `taken`: names of hosts.
  Names names(const std::string& host, std::set<std::string>& taken) const {
    std::map<std::string, Rank> first;
    for (const auto& [machine, one] : one_as_) {
      const Rank& rank = ranks_.at(machine);
      const auto at = first.try_emplace(one, rank).first;
      at->second = std::min(at->second, rank);
    }
    std::vector<std::pair<Rank, std::string>> order;
    for (const auto& [one, rank] : first) order.emplace_back(rank, one);
    std::ranges::sort(order);
    Names of_one, all;
    for (const auto& [rank, one] : order) {
      std::string name = host;
      for (int i = 2; !of_one.empty() && !taken.insert(name).second; ++i)
        name = fmt::format("{}-{}", host, i);
      of_one[one] = name;
    }
    for (const auto& [machine, one] : one_as_) all[machine] = of_one.at(one);
    return all;
  }

 private:
  using Rank = std::tuple<bool, std::string, int>;  ///< no date, the earliest one, lowest GPU

  void join(const std::string to, const std::string from) {  // copies: what they name is changed
    for (auto& [machine, one] : one_as_)
      if (one == from) one = to;
  }

  Names one_as_;                            ///< the machine under which it is known
  std::map<std::string, std::string> had_;  ///< by GPU, a machine that had it
  std::map<std::string, Rank> ranks_;
};

}  // namespace

void tell_machines_apart(Fleet& fleet) {
  std::map<std::string, Namesakes> hosts;
  std::set<std::string> taken;
  for (const FleetGpu& gpu : fleet.gpus) {
    const GpuSummary& s = gpu.summary;
    taken.insert(s.host);
    hosts[s.host].add(s.machine, s.uuid_hash, s.date, s.gpu);
  }
  for (const HostLinks& links : fleet.links) {
    taken.insert(links.host);
    hosts[links.host].add(links.machine, "", "", std::numeric_limits<int>::max());
  }
  std::map<std::string, Names> names;
  for (const auto& [host, machines] : hosts) {
    const Names& own = names[host] = machines.names(host, taken);
    std::set<std::string> distinct;
    for (const auto& [machine, name] : own) distinct.insert(name);
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
