#include "fleet/run/cpus.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "results/parse_number.h"

namespace fathom {

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr int most_cpus = 1 << 16;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    const auto dash = std::min(range.find('-'), range.size());
    const auto first = parse_number<int>(range.substr(0, dash));
    const auto last = dash < range.size() ? parse_number<int>(range.substr(dash + 1)) : first;
    if (!first || !last || *first < 0 || *last < *first || *last >= most_cpus) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    text.remove_prefix(range.size());
    if (text == ",") return std::nullopt;
    if (!text.empty()) text.remove_prefix(1);
  }
  return cpus;
}

std::vector<int> cpus_near(const std::string& pci_bus_id) {
  std::string address = pci_bus_id;
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const char* folder = std::getenv("FATHOM_PCI_DEVICES");
  std::ifstream file(std::filesystem::path(folder ? folder : "/sys/bus/pci/devices") / address /
                     "local_cpulist");
  std::string list;
  std::getline(file, list);
  return parse_cpu_list(list).value_or(std::vector<int>{});
}

std::vector<int> all_cpus() {
  std::vector<int> cpus(static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF))));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

}  // namespace fathom
