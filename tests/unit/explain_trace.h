#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/explain.h"
#include "tests/unit/test_folder.h"

namespace fathom::test {

/// One warp instruction as the library in the program writes it: lane i at `address(i)`.
inline explain::Pattern pattern(explain::Space space, explain::Op op, std::uint32_t bytes,
                                const std::function<std::uint64_t(unsigned)>& address,
                                std::uint64_t pc = 0, std::uint64_t count = 1,
                                std::uint32_t mask = ~0u) {
  explain::Pattern result{pc, count, mask, bytes, space, op, {}};
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1) != 0) result.address[lane] = address(lane);
  return result;
}

/// Lane i at `from` and i times `apart` bytes.
inline auto strided(unsigned apart, unsigned from = 0) {
  return [=](unsigned lane) -> std::uint64_t { return from + apart * lane; };
}

/// No instruction has a line.
inline std::optional<SourceLine> no_line(const std::vector<char>&, const std::string&,
                                         std::uint64_t) {
  return {};
}

/// A recording made by hand.
class TraceBytes {
 public:
  void note(std::string_view sentence) { add(explain::RecordKind::note, std::string(sentence)); }
  void module(std::uint64_t number, std::string_view code) {
    add(explain::RecordKind::module, raw(number) + std::string(code));
  }
  void total(std::uint64_t launches, std::string_view function) {
    add(explain::RecordKind::total, raw(launches) + std::string(function));
  }
  void gpu(std::string_view name) { add(explain::RecordKind::gpu, std::string(name)); }
  void counted(const std::string& json) { add(explain::RecordKind::counted, json); }
  void counted(const std::string& function, const explain::Counts& counts) {
    counted(write_fields(std::map<std::string, explain::Counts>{{function, counts}}).dump());
  }
  void sampled(const PcSample& sample) {
    add(explain::RecordKind::sampled, write_fields(sample).dump());
  }
  /// 10 blocks of `threads` threads, of which one in `every` was recorded.
  void launch(std::string_view function, const std::vector<explain::Pattern>& patterns,
              std::uint32_t threads = 64, std::uint32_t every = 2) {
    explain::LaunchHead head{};
    head.module = 1;
    head.code_bytes = 4096;
    for (const explain::Pattern& one : patterns) head.kept += one.count;
    head.counted = head.kept;
    head.nanoseconds = 2'000'000;
    head.blocks = 10;
    head.threads = threads;
    head.every = every;
    head.patterns = patterns.size();
    std::string body = raw(head);
    for (const explain::Pattern& one : patterns) body += raw(one);
    add(explain::RecordKind::launch, body + std::string(function));
  }
  std::string bytes = explain::trace_magic;

 private:
  template <class T>
  static std::string raw(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  void add(explain::RecordKind kind, const std::string& body) {
    bytes += raw(explain::RecordHead{kind, body.size()}) + body;
  }
};

/// The recordings of so many processes.
inline explain::Trace read(const std::vector<std::string>& processes) {
  explain::Trace trace;
  for (const std::string& bytes : processes)
    explain::read_trace(TestFolder().write("1.trace", bytes), trace);
  return trace;
}

}  // namespace fathom::test
