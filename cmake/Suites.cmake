# Which probes there are, in which group each is, and which groups each suite of `fathom run` has.
# The programs' own descriptions, `fathom`'s suites and the targets suite_* are all made from this.

set(FATHOM_GROUPS core atlas atlas-long gemm)
set(FATHOM_GROUP_core
  copy_bandwidth occupancy tail_effect bank_conflicts warp_reduce model_validation)
set(FATHOM_GROUP_atlas
  memory_latency memory_bandwidth instructions atomics topology launch_overhead)
set(FATHOM_GROUP_atlas-long links energy)
set(FATHOM_GROUP_gemm gemm)

set(FATHOM_SUITES quick default atlas-quick atlas gemm-quick gemm)
set(FATHOM_SUITE_quick core)
set(FATHOM_SUITE_default core)
set(FATHOM_SUITE_atlas-quick atlas)
set(FATHOM_SUITE_atlas atlas atlas-long)
set(FATHOM_SUITE_gemm-quick gemm)
set(FATHOM_SUITE_gemm gemm)

# The same for C++.
set(fathom_suite_rows "")
foreach(suite IN LISTS FATHOM_SUITES)
  list(JOIN FATHOM_SUITE_${suite} "\", \"" groups)
  string(APPEND fathom_suite_rows "    {\"${suite}\", {\"${groups}\"}},\n")
endforeach()
set(fathom_probe_rows "")
foreach(group IN LISTS FATHOM_GROUPS)
  foreach(probe IN LISTS FATHOM_GROUP_${group})
    string(APPEND fathom_probe_rows "    {\"${probe}\", \"${group}\"},\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/suite_groups.h @ONLY CONTENT [[
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fathom {

inline const std::map<std::string, std::vector<std::string>> groups_of_suite{
@fathom_suite_rows@};

inline const std::vector<std::pair<std::string, std::string>> group_of_probe{
@fathom_probe_rows@};

}  // namespace fathom
]])

# The program of a probe, as a target and as a file in bin/.
function(fathom_program_of probe result)
  if(probe STREQUAL gemm)
    set(${result} gemm_ladder PARENT_SCOPE)
  else()
    set(${result} probe_${probe} PARENT_SCOPE)
  endif()
endfunction()

# suite_quick, suite_atlas_quick, ...: all that `fathom run --suite NAME` starts. Call it once every
# program is a target.
function(fathom_add_suite_targets)
  foreach(suite IN LISTS FATHOM_SUITES)
    string(REPLACE "-" "_" target suite_${suite})
    add_custom_target(${target})
    add_dependencies(${target} fathom fathom-device)
    foreach(group IN LISTS FATHOM_SUITE_${suite})
      foreach(probe IN LISTS FATHOM_GROUP_${group})
        fathom_program_of(${probe} program)
        add_dependencies(${target} ${program})
      endforeach()
    endforeach()
  endforeach()
endfunction()
