# What Fathom is built from. Each library is looked for on the machine first; where it is absent,
# its source is fetched at the commit of the release named beside it (the releases that Debian 12
# ships, so that both ways build the same thing). `./fathom` installs the packages before it comes
# to that. The CUDA toolkit is in CudaDependencies.cmake.
#
# Targets: benchmark::benchmark (FATHOM_CUDA only), CLI11::CLI11, fmt::fmt, nlohmann_json::nlohmann_json,
# ValiJSON::valijson, simdjson::simdjson, pugixml::pugixml, tomlplusplus::tomlplusplus,
# Boost::math (headers only), Catch2::Catch2WithMain (FATHOM_TESTS only).

include(FetchContent)

# fathom_dependency(<package> <oldest version> <repository> <commit>)
macro(fathom_dependency package version repository commit)
  FetchContent_Declare(${package}
    GIT_REPOSITORY ${repository} GIT_TAG ${commit} GIT_SUBMODULES ""
    FIND_PACKAGE_ARGS ${version} QUIET)
  FetchContent_MakeAvailable(${package})
  if(${package}_FOUND)
    message(STATUS "${package}: ${${package}_VERSION} (${${package}_DIR})")
  else()
    message(STATUS "${package}: fetched from ${repository} at ${commit}")
  endif()
endmacro()

# The projects fetched must not build their own tests, and old ones name a CMake older than what
# CMake 4 accepts.
set(BENCHMARK_ENABLE_TESTING OFF)
set(BENCHMARK_ENABLE_INSTALL OFF)
set(CLI11_BUILD_TESTS OFF)
set(CLI11_BUILD_EXAMPLES OFF)
set(JSON_BuildTests OFF)
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)

if(FATHOM_CUDA)
  # Release 1.7.1
  fathom_dependency(benchmark 1.7.1
    https://github.com/google/benchmark.git d572f4777349d43653b21d6c2fc63020ab326db2)
endif()
# Release 2.1.2
fathom_dependency(CLI11 2.1
  https://github.com/CLIUtils/CLI11.git 70f8072f9dd2292fd0b9f9e5f58e279f60483ed3)
# Release 9.1.0
fathom_dependency(fmt 9
  https://github.com/fmtlib/fmt.git a33701196adfad74917046096bf5a2aa0ab0bb50)
# Release 3.11.2
fathom_dependency(nlohmann_json 3.11
  https://github.com/nlohmann/json.git bc889afb4c5bf1c0d8ee29ef35eaaf4c8bef8a5d)
# Release 3.0.1: reads the gate's many and large documents
fathom_dependency(simdjson 3.0
  https://github.com/simdjson/simdjson.git 0d2455029d845e801809dd54b01ae47173d7d8e8)
# Release 1.13: writes JUnit's XML
fathom_dependency(pugixml 1.12
  https://github.com/zeux/pugixml.git a0e064336317c9347a91224112af9933598714e9)
# Release 3.3.0: reads the gate's rules
fathom_dependency(tomlplusplus 3.2
  https://github.com/marzer/tomlplusplus.git c635f218c0aefc801d9748841930365e54fe3089)
# Release 1.0. Headers only, and not every package of it has CMake files: look for the header itself.
find_path(FATHOM_VALIJSON_INCLUDE_DIR valijson/validator.hpp)
mark_as_advanced(FATHOM_VALIJSON_INCLUDE_DIR)
if(FATHOM_VALIJSON_INCLUDE_DIR)
  add_library(ValiJSON::valijson INTERFACE IMPORTED GLOBAL)
  target_include_directories(ValiJSON::valijson INTERFACE ${FATHOM_VALIJSON_INCLUDE_DIR})
  target_compile_definitions(ValiJSON::valijson INTERFACE VALIJSON_USE_EXCEPTIONS=1)
  message(STATUS "valijson: ${FATHOM_VALIJSON_INCLUDE_DIR}")
else()
  fathom_dependency(valijson ""
    https://github.com/tristanpenman/valijson.git 78ac8a737df56b5334354efe104ea8f99e2a2f00)
endif()

# Boost.Math: headers only as well.
find_path(FATHOM_BOOST_INCLUDE_DIR boost/math/distributions/students_t.hpp
  HINTS ${Boost_INCLUDE_DIR} ${BOOST_ROOT}/include)
mark_as_advanced(FATHOM_BOOST_INCLUDE_DIR)
if(FATHOM_BOOST_INCLUDE_DIR)
  add_library(Boost::math INTERFACE IMPORTED GLOBAL)
  target_include_directories(Boost::math INTERFACE ${FATHOM_BOOST_INCLUDE_DIR})
  message(STATUS "Boost.Math: ${FATHOM_BOOST_INCLUDE_DIR}")
else()
  # Release 1.83.0, which can stand without the rest of Boost.
  fathom_dependency(boost_math ""
    https://github.com/boostorg/math.git 1a7be5d895d266a870af7a6ed258e5bcf9838277)
endif()

if(FATHOM_TESTS)
  # Release 3.7.1
  fathom_dependency(Catch2 3
    https://github.com/catchorg/Catch2.git fa43b77429ba76c462b1898d6cd2f2d7a9416b14)
  if(NOT Catch2_FOUND)
    list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)
  endif()
endif()
