#pragma once

#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::reports {

/// One thing that a result document says of GPU, software or state.
struct MachineProperty {
  std::string name;
  std::string text;   ///< for people, four significant digits; empty: unknown
  std::string exact;  ///< what two machines agree or differ in
};

/// In reading order, the GPU first.
std::vector<MachineProperty> machine_properties(const Fingerprint& fingerprint);

}  // namespace fathom::reports
