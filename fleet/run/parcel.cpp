#include "fleet/run/parcel.h"

#include <fmt/format.h>

#include <charconv>

#include "results/error.h"

namespace fathom {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(ExitCode::document_malformed, fmt::format("A rank's parcel {}.", what));
}

}  // namespace

void Parcel::add(const std::string& name, const std::string& content) {
  text_ += fmt::format("{}\n{}\n", name, content.size());
  text_ += content;
}

std::vector<Parcel::File> Parcel::open(const std::string& text) {
  std::vector<File> files;
  std::size_t at = 0;
  const auto line = [&] {
    const auto end = text.find('\n', at);
    if (end == std::string::npos) refuse("ends in the middle of a name or length");
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    return word;
  };
  while (at < text.size()) {
    File file;
    file.name = line();
    const std::filesystem::path path(file.name);
    if (file.name.empty() || path.is_absolute() || path.lexically_normal() != path ||
        path.begin()->string() == "..")
      refuse("has a name that leads out of its folder");
    const std::string digits = line();
    std::size_t size = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size())
      refuse("has a length that is none");
    if (size > text.size() - at) refuse("ends in the middle of a file");
    file.content = text.substr(at, size);
    at += size;
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace fathom
