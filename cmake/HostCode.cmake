# What compiling host code costs. Only the harness and what launches run beside a measurement, and
# their time is the GPU's; the rest only has to be quick to build. So -O1, not -O3, unless a file
# asks for more with fathom_optimise(), and what many files include is compiled once.

string(REPLACE "-O3" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-O3" "-O1" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}") # the host's

# ccache takes part only where the preprocessor leaves the precompiled header's name in its output.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")

# fathom_optimise(<target>...): what computes a lot, such as models and statistics. Without
# precompiled headers: g++ 12 crashes on those that it compiled with another -O.
function(fathom_optimise)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O2>")
  endforeach()
endfunction()

# fathom_host_headers(<target>...): the standard library's and fmt's headers come precompiled. The
# first target compiles them for the others, so all need the same options.
function(fathom_host_headers)
  foreach(target IN LISTS ARGN)
    if(NOT TARGET fathom_host_headers)
      file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/host_headers.cpp CONTENT "")
      add_library(fathom_host_headers STATIC ${PROJECT_BINARY_DIR}/generated/host_headers.cpp)
      target_link_libraries(fathom_host_headers PRIVATE fmt::fmt)
      target_precompile_headers(fathom_host_headers PRIVATE
        <algorithm> <array> <cmath> <cstdint> <cstdio> <cstdlib> <filesystem> <functional>
        <iterator>
        <limits> <map> <memory> <numeric> <optional> <set> <span> <stdexcept> <string> <string_view>
        <tuple> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
    endif()
    target_precompile_headers(${target} REUSE_FROM fathom_host_headers)
  endforeach()
endfunction()

# fathom_compile_together(<target> [APART <file>...]): a target's files as one, so that what they
# include is paid for once; an error still names its own file and line. What a file keeps to itself
# (an anonymous namespace) needs a name of its own in the whole target; APART are files where that
# would make names worse, such as tables.
function(fathom_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 together "" "" "APART")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  set_source_files_properties(${together_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
