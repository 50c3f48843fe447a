#include "fleet/run/cpus.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace fathom {

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr int most_cpus = 1 << 16;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&]() -> std::optional<int> {
    int value = 0;
    const auto read = std::from_chars(at, end, value);
    if (read.ec != std::errc() || value < 0 || value >= most_cpus) return std::nullopt;
    at = read.ptr;
    return value;
  };
  while (at != end) {
    const auto first = number();
    if (!first) return std::nullopt;
    auto last = first;
    if (at != end && *at == '-') {
      ++at;
      last = number();
      if (!last || *last < *first) return std::nullopt;
    }
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (at == end) break;
    if (*at != ',' || ++at == end) return std::nullopt;
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
