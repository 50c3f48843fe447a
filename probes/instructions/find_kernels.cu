#include <stdexcept>

#include "probes/instructions/kernels.h"

namespace fathom::instructions {

const Kernels& find_kernels(std::string_view op) {
  for (const auto list : {float_kernels(), integer_kernels(), special_kernels(), warp_kernels(),
                          control_kernels(), mma_kernels(), wgmma_kernels()}) {
    for (const Kernels& kernels : list)
      if (kernels.op == op) return kernels;
  }
  throw std::out_of_range("no kernels for the instruction " + std::string(op));
}

}  // namespace fathom::instructions
