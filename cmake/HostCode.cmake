# What compiling host code costs. Only the harness and the launchers run beside a measurement, and
# their time is the GPU's; the rest only has to be quick to build. So -O1, not -O3, unless a file
# asks for more with fathom_optimise(), and what many files include is compiled once.

string(REPLACE "-O3" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# ccache takes part only where the preprocessor leaves the precompiled header's name in its output.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")

# fathom_optimise(<file>...): what computes a lot, such as models and statistics. Without precompiled
# headers: g++ 12 crashes on those that it compiled with another -O.
function(fathom_optimise)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>" SKIP_PRECOMPILE_HEADERS ON)
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
        <algorithm> <array> <cmath> <cstdint> <cstdio> <cstdlib> <filesystem> <functional> <iterator>
        <limits> <map> <memory> <numeric> <optional> <set> <span> <stdexcept> <string> <string_view>
        <tuple> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
    endif()
    target_precompile_headers(${target} REUSE_FROM fathom_host_headers)
  endforeach()
endfunction()

# fathom_compile_together(<target> <file>...): these include a header that costs seconds, and pay for
# it once for all of them. An error still names its own file and line.
function(fathom_compile_together target first)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${first} ${ARGN} PROPERTIES UNITY_GROUP ${first})
endfunction()
