#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "results/document.h"

namespace fathom {

class ParsedJson;

// The result document on disk: one JSON file, a superset of Google Benchmark's. Its programs, and
// every other that reads Google Benchmark's files, see `context` and `benchmarks` as they know
// them: times of one launch in nanoseconds, and the metric, the further figures and the hardware
// counters as user counters (one whose name a field or an earlier counter has is left out there).
// What is Fathom's own is in the objects named `fathom`, and what is there twice is read back from
// those. Entries of a replay are named "REPLAY/..." on disk, so that no other program can take one
// for a measurement; a file in which names and source disagree is refused. results/schema.json says
// what is where.

/// Above this size a file is refused unread; a whole atlas with all its samples has 9 MB.
inline constexpr std::size_t document_size_limit = 256u << 20;

/// The document as JSON; the same document gives the same JSON. Throws Error(document_malformed)
/// naming the path of a number that is not finite: JSON has none, and a figure that is none is a
/// fault of whoever computed it.
nlohmann::ordered_json to_json(const Document& document);
nlohmann::ordered_json to_json(const Fingerprint& fingerprint);

/// The text of a document: two spaces of indentation, arrays of plain values on one line. Bytes
/// that are not UTF-8 become U+FFFD.
std::string to_text(const Document& document);
std::string to_text(const nlohmann::ordered_json& json);

/// Parses, validates and reads a text. Throws as ParsedJson and read_fields do (results/fields.h),
/// and Error(document_version) for another version of the schema.
Document parse_document(std::string_view text, const std::string& origin);
Document parse_document(const ParsedJson& json, const std::string& origin);

/// Reads a file as above, packed by gzip if its name ends with ".gz"; Error(bad_input) if it cannot
/// be read.
Document read_document(const std::filesystem::path& path);

/// Replaces the file, packed by gzip if its name ends with ".gz". Throws as write_file_atomically
/// (results/files.h) and to_json do, and leaves the old file then.
void write_document(const Document& document, const std::filesystem::path& path);

/// Adds a part that another probe of the same run left: entries, probes, claims, facts, and those
/// of its warnings, notes and bounds that are not there yet. The earliest date counts, elapsed
/// times add up, and the rest stays the run's. Throws Error(bad_input), and adds nothing, unless
/// they agree in fingerprint, source, suite, seed and Fathom's version and commit.
void add_part(Document& run, const Document& part);

}  // namespace fathom
