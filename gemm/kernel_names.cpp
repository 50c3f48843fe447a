#include "gemm/kernel_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "gemm/launched_kernels.h"
#include "results/error.h"

namespace fathom::gemm {

std::string readable_kernel_name(const std::string& mangled, std::size_t limit) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? demangled.get() : mangled;
  if (name.starts_with("void ")) name.erase(0, 5);
  // The arguments begin at the first bracket outside of <>, where it is a cast, that names no
  // namespace.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && name.compare(i, 11, "(anonymous ") != 0) {
      name.erase(i);
      break;
    }
  }
  if (name.size() > limit) name = name.substr(0, limit - 3) + "...";
  return name;
}

std::string ladder_kernel_name(const std::string& mangled) {
  std::string name = readable_kernel_name(mangled, std::numeric_limits<std::size_t>::max());
  for (const std::string_view dropped : {"fathom::gemm::", "(anonymous namespace)::"}) {
    for (std::size_t at = name.find(dropped); at != std::string::npos; at = name.find(dropped, at))
      name.erase(at, dropped.size());
  }
  return name;
}

std::string kernel_template(const std::string& mangled) {
  const std::string name = ladder_kernel_name(mangled);
  return name.substr(0, name.find('<'));
}

std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream) try {
  std::string names;
  for (const LaunchedKernel& kernel : launched_kernels(launch, stream)) {
    names += names.empty() ? "" : ", ";
    names += kernel.name.empty() ? "unknown" : readable_kernel_name(kernel.name);
  }
  return names.empty() ? "none" : names;
} catch (const Error& error) {
  if (error.code() == ExitCode::gpu_lost) throw;
  return std::string("unknown: ") + error.what();
}

}  // namespace fathom::gemm
