#include "reports/machine.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

MachineProperty property(const char* name, const std::string& text) { return {name, text, text}; }

template <typename Number>
MachineProperty property(const char* name, const std::optional<Number>& value, const char* unit) {
  if (!value) return {name, "", ""};
  const double number = static_cast<double>(*value);
  const std::string space = *unit == 0 ? "" : " ";
  return {name, format_quantity(number, unit), format_exact(number) + space + unit};
}

/// Two properties beside each other.
Table property_table(const std::vector<MachineProperty>& properties) {
  Table table({{"GPU"}, {""}, {"Software and state"}, {""}});
  const std::size_t rows = (properties.size() + 1) / 2;
  const auto text = [&](std::size_t i) {
    return properties[i].text.empty() ? "unknown" : escape_text(properties[i].text);
  };
  for (std::size_t i = 0; i < rows; ++i) {
    const bool pair = i + rows < properties.size();
    table.add_row({properties[i].name, text(i), pair ? properties[i + rows].name : "",
                   pair ? text(i + rows) : ""});
  }
  return table;
}

}  // namespace

std::vector<MachineProperty> machine_properties(const Fingerprint& f) {
  return {property("Name", f.gpu_name),
          property("Compute capability", f.compute_capability),
          property("Streaming multiprocessors", f.sms, ""),
          property("Memory", f.memory_bytes, "B"),
          property("Memory bus", f.memory_bus_bits, "bit"),
          property("L2 cache", f.l2_bytes, "B"),
          property("Highest SM clock", f.sm_clock_max_hz, "Hz"),
          property("Highest memory clock", f.memory_clock_max_hz, "Hz"),
          property("Power limit", f.power_limit_w, "W"),
          property("PCIe link", f.pcie_link),
          property("Identity (hash)", f.gpu_uuid_hash),
          property("Driver", f.driver),
          property("CUDA of the driver", f.cuda_driver),
          property("CUDA runtime", f.cuda_runtime),
          property("CUDA toolkit", f.toolkit),
          property("VBIOS", f.vbios),
          property("ECC", f.ecc),
          property("MIG", f.mig),
          property("Persistence mode", f.persistence),
          property("Compute mode", f.compute_mode),
          property("Virtualisation", f.virtualization),
          property("Confidential computing", f.confidential_computing)};
}

void write_environment(PageContext& to) {
  to.page.heading(2, "Environment", "environment");
  to.page.table("The GPU and its software",
                property_table(machine_properties(to.document.fingerprint)));

  Table bounds({{"Bound"}, {"Value", Align::right}, {"Source"}});
  for (const DeviceBound& bound : to.document.bounds) {
    bounds.add_row({escape_text(spaced(bound.name)), quantity(bound.value, bound.unit),
                    escape_text(bound.source)});
  }
  to.page.table("What physics allows this GPU", bounds);
}

}  // namespace fathom::reports
