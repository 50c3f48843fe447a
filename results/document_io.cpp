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

bool has_structure_within(const OrderedJson& value) {
  return std::any_of(value.begin(), value.end(),
                     [](const OrderedJson& v) { return v.is_structured(); });
}

/// As the library's own layout, but lists of plain values on one line: samples are many, and one
/// per line would bury everything else.
void append_text(const OrderedJson& value, std::size_t indent, std::string& out) {
  const bool is_object = value.is_object();
  if (value.empty() || !value.is_structured() || (!is_object && !has_structure_within(value))) {
    out += one_line(value);
    return;
  }
  const std::string line = "\n" + std::string(indent, ' ');
  out += is_object ? '{' : '[';
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (item != value.begin()) out += ',';
    out += line;
    out += "  ";
    if (is_object) out += one_line(OrderedJson(item.key())) + ": ";
    append_text(*item, indent + 2, out);
  }
  out += line;
  out += is_object ? '}' : ']';
}

}  // namespace

std::string to_text(const OrderedJson& json) {
  std::string text;
  append_text(json, 0, text);
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
