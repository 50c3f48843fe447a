#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// "0-3,8" as 0, 1, 2, 3, 8; nothing for another text.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// CPUs of the NUMA node that a PCI device is at, as the kernel has them; empty where it does not
/// tell. FATHOM_PCI_DEVICES names another folder than /sys/bus/pci/devices.
std::vector<int> cpus_near(const std::string& pci_bus_id);

/// The machine's CPUs; the kernel leaves out those that a container or job may not use.
std::vector<int> all_cpus();

}  // namespace fathom
