# Finds what Fathom is built from, as cmake/dependencies.txt lists it. Each library is looked for on
# the machine first; where it is absent, its source is fetched at the commit that stands there.
# `./fathom` installs the packages before it comes to that. The CUDA toolkit is in
# Cuda.cmake.
#
# Targets: CLI11::CLI11, fmt::fmt, nlohmann_json::nlohmann_json, simdjson::simdjson, ZLIB::ZLIB,
# Boost::math (headers only); with FATHOM_GATE tomlplusplus::tomlplusplus; with FATHOM_CUDA
# benchmark::benchmark; with FATHOM_TESTS Catch2::Catch2WithMain, ValiJSON::valijson,
# pugixml::pugixml.

include(FetchContent)

set(fathom_dependency_list ${CMAKE_CURRENT_LIST_DIR}/dependencies.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${fathom_dependency_list})

# fathom_dependency(<name in the list>)
macro(fathom_dependency package)
  file(STRINGS ${fathom_dependency_list} fathom_line REGEX "^  ${package} ")
  separate_arguments(fathom_line UNIX_COMMAND "${fathom_line}")
  list(POP_FRONT fathom_line fathom_name fathom_version fathom_repository fathom_commit)
  string(REPLACE "-" "" fathom_version "${fathom_version}")
  FetchContent_Declare(${package}
    GIT_REPOSITORY ${fathom_repository} GIT_TAG ${fathom_commit} GIT_SUBMODULES ""
    FIND_PACKAGE_ARGS ${fathom_version} QUIET)
  FetchContent_MakeAvailable(${package})
  if(NOT ${package}_FOUND)
    message(STATUS "${package}: fetched from ${fathom_repository} at ${fathom_commit}")
  endif()
endmacro()

# fathom_header_dependency(<name in the list> <target> <variable> <header>): a library of headers
# alone. Not every package of it has CMake files: looks for a header itself.
macro(fathom_header_dependency package target variable header)
  find_path(${variable} ${header} HINTS ${Boost_INCLUDE_DIR} ${BOOST_ROOT}/include)
  if(${variable})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} INTERFACE ${${variable}})
  else()
    fathom_dependency(${package})
  endif()
endmacro()

# The projects fetched must not build their own tests, and old ones name a CMake older than what
# CMake 4 accepts.
set(BENCHMARK_ENABLE_TESTING OFF)
set(BENCHMARK_ENABLE_INSTALL OFF)
set(CLI11_BUILD_TESTS OFF)
set(CLI11_BUILD_EXAMPLES OFF)
set(JSON_BuildTests OFF)
set(ZLIB_BUILD_EXAMPLES OFF)
set(SKIP_INSTALL_ALL ON)  # zlib's
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)

if(FATHOM_CUDA)
  fathom_dependency(benchmark)
endif()
fathom_dependency(CLI11)
fathom_dependency(fmt)
fathom_dependency(nlohmann_json)
fathom_dependency(simdjson)
fathom_dependency(ZLIB)
if(NOT TARGET ZLIB::ZLIB)  # fetched: its own CMake files name targets, not where their headers are
  add_library(ZLIB::ZLIB INTERFACE IMPORTED GLOBAL)
  target_link_libraries(ZLIB::ZLIB INTERFACE zlibstatic)
  target_include_directories(ZLIB::ZLIB INTERFACE ${zlib_SOURCE_DIR} ${zlib_BINARY_DIR})
endif()
if(FATHOM_GATE)
  fathom_dependency(tomlplusplus)
endif()

fathom_header_dependency(boost_math Boost::math FATHOM_BOOST_INCLUDE_DIR
  boost/math/distributions/students_t.hpp)

if(FATHOM_TESTS)
  fathom_dependency(Catch2)
  fathom_dependency(pugixml)
  fathom_header_dependency(valijson ValiJSON::valijson FATHOM_VALIJSON_INCLUDE_DIR
    valijson/validator.hpp)
  if(FATHOM_VALIJSON_INCLUDE_DIR)
    target_compile_definitions(ValiJSON::valijson INTERFACE VALIJSON_USE_EXCEPTIONS=1)
  endif()
  if(NOT Catch2_FOUND)
    list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)
  endif()
endif()
