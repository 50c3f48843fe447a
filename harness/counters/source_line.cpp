#include "harness/counters/source_line.h"

#include <cstdlib>

#include "harness/counters/cupti_library.h"

namespace fathom {

std::optional<SourceLine> source_line(const std::vector<char>& code, const std::string& function,
                                      std::uint64_t offset) {
  FATHOM_SAMPLING_PARAMS(CUpti_GetSassToSourceCorrelationParams, params, .cubin = code.data(),
                         .functionName = function.c_str(), .cubinSize = code.size(),
                         .pcOffset = offset);
  if (cupti_library().cuptiGetSassToSourceCorrelation(&params) != CUPTI_SUCCESS) return {};
  std::optional<SourceLine> line;
  if (params.fileName != nullptr && params.lineNumber != 0) {
    const std::filesystem::path folder = params.dirName == nullptr ? "" : params.dirName;
    line = {(folder / params.fileName).lexically_normal().string(), params.lineNumber};
  }
  std::free(params.fileName);
  std::free(params.dirName);
  return line;
}

}  // namespace fathom
