# Proves that the kernels compile for every architecture that Fathom knows, whatever GPU the normal
# build is for. Nothing links or reads what comes out, so that the host's half is left out.
#
#   cmake --build build --target all_architectures

add_custom_target(all_architectures)

# fathom_compile_for_all_architectures(<target>): compiles every .cu source of the target once more
# for all architectures that the build is not for, with the target's own include folders,
# definitions, options and libraries.
# Adds the object library <target>_all_architectures. Call it after the target is complete.
function(fathom_compile_for_all_architectures target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  # Those of the build itself are proven by it.
  list(TRANSFORM FATHOM_ALL_ARCHITECTURES APPEND "-real" OUTPUT_VARIABLE architectures)
  list(REMOVE_ITEM architectures ${CMAKE_CUDA_ARCHITECTURES})
  if(NOT architectures)
    return()
  endif()
  set(objects ${target}_all_architectures)
  add_library(${objects} OBJECT EXCLUDE_FROM_ALL ${sources})
  set_target_properties(${objects} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  foreach(what INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
    set_property(TARGET ${objects} PROPERTY ${what} "$<TARGET_PROPERTY:${target},${what}>")
  endforeach()
  target_link_libraries(${objects} PRIVATE $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
  target_compile_options(${objects} PRIVATE -fatbin)
  # What is asked is whether each chip's compiler takes the code, not how fast the code is.
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(${objects} PRIVATE --Ofast-compile=max)
  endif()
  add_dependencies(all_architectures ${objects})
endfunction()

# As a test: a kernel that one chip's compiler refuses is a failed test, not a failed build.
if(FATHOM_TESTS)
  cmake_host_system_information(RESULT fathom_cores QUERY NUMBER_OF_LOGICAL_CORES)
  set(fathom_test "sass: every kernel compiles for every architecture")
  add_test(NAME ${fathom_test}
    COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target all_architectures
            --parallel ${fathom_cores})
  set_tests_properties(${fathom_test} PROPERTIES
    LABELS "sass;slow" RUN_SERIAL TRUE TIMEOUT 3600 FIXTURES_SETUP all_architectures)
endif()
