#include "results/document_io.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results/atomic_file.h"
#include "results/gzip.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

std::string one_line(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// As the library's own layout, but lists of plain values on one line: samples are many, and one
/// per line would bury everything else. `line` begins the value's own line.
void append_text(const OrderedJson& value, const std::string& line, std::string& out) {
  const bool is_object = value.is_object();
  const auto is_deep = [](const auto& item) { return item.is_structured(); };
  if (value.empty() || (!is_object && std::none_of(value.begin(), value.end(), is_deep))) {
    out += one_line(value);
    return;
  }
  const char* before = is_object ? "{" : "[";
  for (auto item = value.begin(); item != value.end(); ++item, before = ",") {
    out += before + line + "  ";
    if (is_object) out += one_line(item.key()) + ": ";
    append_text(*item, line + "  ", out);
  }
  out += line + (is_object ? "}" : "]");
}

}  // namespace

std::string to_text(const OrderedJson& json) {
  std::string text;
  append_text(json, "\n", text);
  text += '\n';
  return text;
}

std::string to_text(const Document& document) { return to_text(to_json(document)); }

Document read_document(const fs::path& path) {
  return parse_document(read_file_up_to(path, document_size_limit), path.string());
}

void write_document(const Document& document, const fs::path& path) {
  const std::string text = to_text(document);
  write_file_atomically(path, path.extension() == ".gz" ? gzip(text) : text);
}

}  // namespace fathom
