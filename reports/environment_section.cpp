#include <string>
#include <utility>
#include <vector>

#include "reports/scale.h"
#include "reports/sections.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

/// Properties in reading order, two beside each other.
class FactTable {
 public:
  void add(const std::string& name, const std::string& value) {
    facts_.push_back({name, value.empty() ? "unknown" : escape_text(value)});
  }
  template <typename Number>
  void add(const std::string& name, const std::optional<Number>& value, const std::string& unit) {
    add(name, value ? format_quantity(static_cast<double>(*value), unit) : "");
  }
  Table table() const {
    Table table({{"GPU"}, {""}, {"Software and state"}, {""}});
    const std::size_t rows = (facts_.size() + 1) / 2;
    for (std::size_t i = 0; i < rows; ++i) {
      const bool pair = i + rows < facts_.size();
      table.add_row({facts_[i].first, facts_[i].second, pair ? facts_[i + rows].first : "",
                     pair ? facts_[i + rows].second : ""});
    }
    return table;
  }

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

}  // namespace

void write_environment(Writing& to) {
  const Fingerprint& f = to.document.fingerprint;
  to.page.heading(2, "Environment", "environment");
  FactTable facts;
  facts.add("Name", f.gpu_name);
  facts.add("Compute capability", f.compute_capability);
  facts.add("Streaming multiprocessors", f.sms, "");
  facts.add("Memory", f.memory_bytes, "B");
  facts.add("Memory bus", f.memory_bus_bits, "bit");
  facts.add("L2 cache", f.l2_bytes, "B");
  facts.add("Highest SM clock", f.sm_clock_max_hz, "Hz");
  facts.add("Highest memory clock", f.memory_clock_max_hz, "Hz");
  facts.add("Power limit", f.power_limit_w, "W");
  facts.add("PCIe link", f.pcie_link);
  facts.add("Identity (hash)", f.gpu_uuid_hash);
  facts.add("Driver", f.driver);
  facts.add("CUDA of the driver", f.cuda_driver);
  facts.add("CUDA runtime", f.cuda_runtime);
  facts.add("CUDA toolkit", f.toolkit);
  facts.add("VBIOS", f.vbios);
  facts.add("ECC", f.ecc);
  facts.add("MIG", f.mig);
  facts.add("Persistence mode", f.persistence);
  facts.add("Compute mode", f.compute_mode);
  facts.add("Virtualisation", f.virtualization);
  facts.add("Confidential computing", f.confidential_computing);
  to.page.table("The GPU and its software", facts.table());

  Table bounds({{"Bound"}, {"Value", Align::right}, {"Source"}});
  for (const DeviceBound& bound : to.document.bounds) {
    bounds.add_row({escape_text(spaced(bound.name)), quantity(bound.value, bound.unit),
                    escape_text(bound.source)});
  }
  to.page.table("What physics allows this GPU", bounds);
}

}  // namespace fathom::reports
