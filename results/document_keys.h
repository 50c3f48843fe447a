#pragma once

#include <set>
#include <string>

namespace fathom::keys {

/// The object, in `context`, in each of `benchmarks` and at the top, in which Fathom's own part is.
inline const std::string own = "fathom";

/// What the names of a replay's entries begin with on disk.
inline const std::string replay_prefix = "REPLAY/";

/// Fields of an entry that Google Benchmark's readers give a meaning: no counter may take such a
/// name there. (Its json_reporter.cc and tools/gbench.)
inline const std::set<std::string>& google_benchmark_fields() {
  static const std::set<std::string> fields{"name",
                                            "family_index",
                                            "per_family_instance_index",
                                            "run_name",
                                            "run_type",
                                            "repetitions",
                                            "threads",
                                            "repetition_index",
                                            "aggregate_name",
                                            "aggregate_unit",
                                            "iterations",
                                            "error_occurred",
                                            "error_message",
                                            "skipped",
                                            "skip_message",
                                            "real_time",
                                            "cpu_time",
                                            "time_unit",
                                            "label",
                                            "big_o",
                                            "rms",
                                            "cpu_coefficient",
                                            "real_coefficient"};
  return fields;
}

}  // namespace fathom::keys
