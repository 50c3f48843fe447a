#include "models/gpu_table.h"

#include <cctype>
#include <string>

namespace fathom::models {
namespace {

/// Lower case, with '-' and runs of blanks as one blank, without the maker's and brand's names.
std::string normalised(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool blank = c == '-' || std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  for (const std::string_view brand : {"nvidia ", "tesla ", "geforce "})
    if (text.starts_with(brand)) text.erase(0, brand.size());
  return text;
}

}  // namespace

const GpuSpec* find_gpu(std::string_view name) {
  const std::string wanted = normalised(name);
  if (wanted.empty()) return nullptr;
  for (const GpuSpec& gpu : gpu_table()) {
    if (wanted == normalised(gpu.name)) return &gpu;
    for (const std::string_view device_name : gpu.device_names)
      if (wanted == normalised(device_name)) return &gpu;
  }
  return nullptr;
}

}  // namespace fathom::models
