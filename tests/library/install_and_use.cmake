# Steps of the test in CMakeLists.txt; ends with an error where one fails.
cmake_minimum_required(VERSION 3.24)

function(step)
  execute_process(COMMAND ${ARGV}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGV}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIGURATION} --prefix ${WORK}/prefix
  --component models)
step(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR}
  -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -D EXPECTED_VERSION=${VERSION}
  -D EXPECTED_PREFIX=${WORK}/prefix -D DOCUMENTATION=${DOCUMENTATION})
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure --no-tests=error)
