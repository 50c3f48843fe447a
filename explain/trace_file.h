#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "explain/trace.h"

// What the libraries that are loaded into the program share.

namespace fathom::explain {

/// What `fathom explain` told the library, by a variable of the environment.
inline std::string setting(const char* name) {
  const char* const value = std::getenv(("FATHOM_EXPLAIN_" + std::string(name)).c_str());
  return value == nullptr ? "" : value;
}

/// FOLDER/PID.trace, made when there is something to write. It never throws and never prints.
class TraceFile {
 public:
  void note(const std::string& sentence) { add(RecordKind::note, {{sentence}}); }
  void add(RecordKind kind, const std::vector<std::string_view>& parts) {
    if (file_ < 0) {
      const std::string path = setting("FOLDER") + "/" + std::to_string(getpid()) + ".trace";
      file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      write_all({trace_magic, sizeof trace_magic - 1});
    }
    RecordHead head{kind, 0, 0};
    for (const std::string_view part : parts) head.bytes += part.size();
    write_all(bytes_of(head));
    for (const std::string_view part : parts) write_all(part);
  }
  template <class T>
  static std::string_view bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }

 private:
  void write_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write(file_, bytes.data(), bytes.size());
      if (n <= 0) return;  // a full disk: the reader finds the record cut short
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  int file_ = -1;
};

}  // namespace fathom::explain
